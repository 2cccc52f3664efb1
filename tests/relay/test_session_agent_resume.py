"""Resume, stop, answer and history on the `session-agent` wire, through the gateway.

On its revision V, but for what only R does: what differs by revision is proved in tests/dialects.
"""

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from gateway.clients import Chat, chatting, chunks, is_whole, new_client, outline, post, said
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire_lab.agents.session_agent.habits import Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

STREAM = "/chat/chat-1/stream"


@asynccontextmanager
async def product(
    revision: Revision = "V", **habits: Any
) -> AsyncIterator[tuple[SessionAgent, Gateway]]:
    """An agent, and a gateway before it whose clients' turns go on without them."""
    async with (
        SessionAgent(Habits(revision=revision, **habits)) as agent,
        Gateway(agent.url, dialect="session-agent", on_disconnect="continue") as gateway,
    ):
        yield agent, gateway


@asynccontextmanager
async def resuming(
    gateway: Gateway, user: str = "u1", params: dict[str, str] | None = None
) -> AsyncIterator[Chat]:
    """A resumed stream that is read along."""
    url = f"{gateway.url}/api/sessions/s1{STREAM}"
    async with (
        new_client() as client,
        client.stream("GET", url, headers=bearer(user), params=params) as response,
    ):
        chat = Chat(response)
        try:
            yield chat
        finally:
            await chat.hang_up()


async def call(
    gateway: Gateway, method: str, path: str, json: Any = None, user: str = "u1"
) -> httpx.Response:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1{path}"
        return await client.request(method, url, headers=bearer(user), json=json)


def first(body: bytes, kind: str) -> dict[str, Any]:
    return next(chunk for chunk in chunks(body) if chunk["type"] == kind)


# Resume.


async def test_a_session_where_nothing_runs_has_nothing_to_resume() -> None:
    async with product() as (_, gateway):
        before = await call(gateway, "GET", STREAM)
        await post(gateway, text="what is 12*7?")
        after = await call(gateway, "GET", STREAM)

    assert [before.status_code, after.status_code] == [204, 204]


async def test_a_turn_of_text_is_resumed_in_the_middle() -> None:
    """Every delta comes at once from the turn's end, since no snapshot comes before."""
    async with (
        product(pace_s=0.01) as (_, gateway),
        chatting(gateway, text="flood 150") as original,
    ):
        await original.sees('"3 "')
        async with resuming(gateway) as resumed:
            body = await resumed.end()
        await original.end()

    assert is_whole(body)
    assert first(body, "start") == first(original.body, "start")
    # What came after the last tool, which is all of it.
    assert said(body) == said(original.body)


async def test_a_turn_is_resumed_in_a_tool() -> None:
    """Approvals and questions stop a turn in the middle of a tool."""
    async with (
        product() as (_, gateway),
        chatting(gateway, text="ask me") as original,
    ):
        await original.sees("data-question")
        async with resuming(gateway) as resumed:
            await resumed.sees("data-question")
            question_id = first(resumed.body, "data-question")["id"]
            answer = {"questionId": question_id, "answer": "yes"}
            answered = await call(gateway, "POST", "/answer", answer)
            body = await resumed.end()
        await original.end()

    assert answered.status_code == 202
    assert is_whole(body)
    assert "You said: yes." in said(body)
    assert said(body) == said(original.body)
    assert first(body, "tool-output-available") == first(original.body, "tool-output-available")


async def test_a_client_that_left_answers_with_its_message() -> None:
    async with product() as (_, gateway):
        async with chatting(gateway, text="ask me") as left:
            await left.sees("data-question")
        question_id = first(left.body, "data-question")["id"]
        message_id = first(left.body, "start")["messageId"]
        call_id = first(left.body, "tool-input-available")["toolCallId"]
        card = {"toolCallId": call_id, "state": "input-available", "providerExecuted": True}
        data = {"state": "answered", "answer": "yes"}
        parts = [
            {"type": "step-start"},
            {"type": "tool-question", "input": {}, **card},
            {"type": "data-question", "id": question_id, "data": data},
        ]
        message = {"id": message_id, "role": "assistant", "parts": parts}
        body = {"id": "chat-1", "messages": [message]}
        replied = await call(gateway, "POST", "/chat", body)
        again = await call(gateway, "POST", "/chat", body)

    assert is_whole(replied.text)
    assert first(replied.content, "start") == {"type": "start", "messageId": message_id}
    assert first(replied.content, "data-question")["data"]["state"] == "resolved"
    assert first(replied.content, "tool-output-available")["toolCallId"] == call_id
    assert said(replied.text) == "You said: yes.\n"
    assert (again.status_code, again.json()["code"]) == (409, "question_closed")


async def test_a_prompt_that_waits_is_resumed() -> None:
    async with product(status="hibernated", wake_s=math.inf) as (agent, gateway):
        async with chatting(gateway, text="what is 12*7?") as waiting:
            await waiting.sees("queued")
        async with resuming(gateway) as resumed:
            await resumed.sees("queued")
            agent.session("s1").find_runner()
            body = await resumed.end()

    assert is_whole(body)
    assert said(body) == "Let me work that out. 12*7 is **84**.\n"
    assert outline(body).count("start") == 1


async def test_the_turn_that_runs_comes_before_the_prompt_that_waits() -> None:
    async with (
        product() as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as running,
    ):
        await running.sees("start-step")
        async with chatting(gateway, text="what is 2+2?", user="bob") as waiting:
            await waiting.sees("queued")
            async with resuming(gateway, user="bob") as resumed:
                # R knows what runs; on V nothing shows it while it holds.
                await resumed.sees("queued")
                agent.session("s1").release()
                body = await resumed.end()
            await waiting.end()
        await running.end()

    assert is_whole(body)
    assert said(body) == said(running.body)


async def test_a_resumed_stream_never_aborts() -> None:
    async with (
        product(pace_s=0.01) as (agent, gateway),
        chatting(gateway, text="flood 100") as original,
    ):
        await original.sees('"3 "')
        async with resuming(gateway) as resumed:
            await resumed.sees("start")
        assert is_whole(await original.end())

    assert not [frame for frame in agent.received if frame["type"] == "abort"]


async def test_a_busy_runner_that_shows_nothing_is_a_204() -> None:
    async with (
        product() as (agent, gateway),
        chatting(gateway, text="hang") as running,
    ):
        await running.sees("me. ")
        response = await call(gateway, "GET", STREAM)
        agent.session("s1").die()
        await running.end()

    assert response.status_code == 204


# Stop.


async def test_the_running_turn_is_stopped() -> None:
    async with product() as (agent, gateway):
        async with chatting(gateway, text="hang") as running:
            await running.sees("me. ")
            stopped = await call(gateway, "POST", "/stop")
            body = await running.end()
        again = await call(gateway, "POST", "/stop")

    assert stopped.status_code == 200
    assert stopped.json()["stopped"] is True
    assert stopped.json()["reason"] == "canceled"
    assert outline(body)[-2:] == ["abort", "finish"]
    assert len(agent.tally.stopped) == 1
    assert again.json()["stopped"] is False
    assert again.json()["reason"] == "idle"


async def test_a_named_turn_is_stopped_and_no_other() -> None:
    async with (
        product(pace_s=0.005) as (agent, gateway),
        chatting(gateway, text="flood 100000") as running,
    ):
        await running.sees('"3 "')
        turn_id = first(running.body, "start")["messageId"]
        other = await call(gateway, "POST", "/stop", {"turnId": "another"})
        stopped = await call(gateway, "POST", "/stop", {"turnId": turn_id})
        await running.end()

    assert other.status_code == 409
    assert stopped.json()["stopped"] is True
    assert stopped.json()["turnId"] == turn_id
    assert len(agent.tally.stopped) == 1


async def test_r_stops_nothing_while_others_wait() -> None:
    async with (
        product("R") as (agent, gateway),
        chatting(gateway, text="hold", user="ann") as running,
    ):
        await running.sees("start-step")
        async with chatting(gateway, text="what is 2+2?", user="bob") as waiting:
            await waiting.sees("queued")
            response = await call(gateway, "POST", "/stop", user="ann")
            agent.session("s1").release()
            body = await waiting.end()
        await running.end()

    assert response.status_code == 409
    assert "4" in said(body)
    assert not agent.tally.deleted


async def test_v_stops_nothing_while_another_channel_is_at_work() -> None:
    async with (
        product(pace_s=0.005) as (agent, gateway),
        chatting(gateway, text="flood 100000", user="ann") as running,
    ):
        await running.sees('"3 "')
        response = await call(gateway, "POST", "/stop?channelId=other", user="bob")
        threads = await call(gateway, "POST", "/stop?threadId=th1", user="bob")
        assert (await call(gateway, "POST", "/stop", user="ann")).json()["stopped"]
        await running.end()

    assert [response.status_code, threads.status_code] == [409, 409]
    assert [stopped.user_id for stopped in agent.tally.stopped] == ["ann"]


# Answer.


async def test_a_question_is_answered_once() -> None:
    async with product() as (_, gateway):
        async with chatting(gateway, text="ask me") as running:
            await running.sees("data-question")
            question_id = first(running.body, "data-question")["id"]
            given = {"questionId": question_id, "answer": "no"}
            answered = await call(gateway, "POST", "/answer", given)
            body = await running.end()
        again = await call(gateway, "POST", "/answer", given)

    assert answered.status_code == 202
    assert "You said: no." in said(body)
    assert again.status_code == 404


@pytest.mark.parametrize(("answer", "told"), [(True, "Sent."), ("deny", "Not sent.")])
async def test_an_approval_is_decided(answer: object, told: str) -> None:
    async with (
        product(owner="u1") as (_, gateway),
        chatting(gateway, text="approve") as running,
    ):
        await running.sees("data-question")
        question_id = first(running.body, "data-question")["id"]
        given = {"questionId": question_id, "answer": answer}
        theirs = await call(gateway, "POST", "/answer", given, user="bob")
        ours = await call(gateway, "POST", "/answer", given)
        body = await running.end()

    assert theirs.status_code == 404
    assert ours.status_code == 202
    assert said(body).endswith(f"I will send a mail. {told}\n")


async def test_an_approval_that_fails_is_closed() -> None:
    async with (
        product() as (_, gateway),
        chatting(gateway, text="approve and fail") as running,
    ):
        await running.sees("data-question")
        question_id = first(running.body, "data-question")["id"]
        given = {"questionId": question_id, "answer": True}
        response = await call(gateway, "POST", "/answer", given)
        await running.end()

    assert response.status_code == 409


# History.


async def test_r_tells_the_history() -> None:
    async with product("R") as (_, gateway):
        body = (await post(gateway, text="what time is it in Tokyo?")).text
        async with chatting(gateway, text="hang") as running:
            await running.sees("me. ")
            history = (await call(gateway, "GET", "/messages")).json()
            await call(gateway, "POST", "/stop")
            await running.end()

    assert [message["role"] for message in history] == ["user", "assistant", "user"]
    assert history[1]["id"] == first(body.encode(), "start")["messageId"]
    tools = [part["state"] for part in history[1]["parts"] if part["type"] == "tool-clock"]
    assert tools == ["output-available"]
    # R's end wrote the last text over the one before it.
    texts = [part["text"] for part in history[1]["parts"] if part["type"] == "text"]
    assert len(texts) == 1
    assert said(body).endswith(texts[0])


async def test_v_tells_no_history() -> None:
    async with product() as (_, gateway):
        response = await call(gateway, "GET", "/messages")

    assert response.status_code == 501
    assert response.json()["code"] == "not_supported"
