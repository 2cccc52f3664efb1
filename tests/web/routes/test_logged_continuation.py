"""A turn that waits for an approval, or for an answer, and goes on with its client's message."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any, Final

import httpx
import pytest

from gateway.asking_agent import AgentRun, AskingAgent, call, gateway_of, prompting, resuming
from gateway.clients import Json, chunks, errors, is_whole, outline, post, said
from gateway.running import Gateway
from gateway.waiting import until
from support.asking_dialect import Asking, Asks, Begun, Called, Over, Text, Waits
from support.framed_transport import FramedTransport
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.transports import TRANSPORTS

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
NATIVE: Final = {"x-turnwire-profile": "7"}
STREAM: Final = "chat/chat-1/stream"


@pytest.fixture(autouse=True)
def in_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Asking.name, Asking())
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)


@pytest.fixture
async def agent() -> AsyncIterator[AskingAgent]:
    async with AskingAgent() as agent:
        yield agent


@pytest.fixture
async def gateway(agent: AskingAgent) -> AsyncIterator[Gateway]:
    async with gateway_of(agent, signing_keys=KEY) as gateway:
        yield gateway


async def asked(gateway: Gateway, agent: AskingAgent, *asks: Asks) -> tuple[bytes, AgentRun]:
    """A turn that waits for the approval of its calls."""
    asks = asks or (Asks("q1", call="c1"),)
    async with prompting(gateway, headers=NATIVE) as prompt:
        run = await agent.run()
        calls = [Called(each.call) for each in asks if each.call is not None]
        await run.say(Begun("t1"), Text("Hello"), *calls, *asks, Waits())
        return await prompt.end(), run


def requests(body: bytes) -> dict[str, str]:
    """The approval ids by call."""
    wanted = [chunk for chunk in chunks(body) if chunk["type"] == "tool-approval-request"]
    return {chunk["toolCallId"]: chunk["approvalId"] for chunk in wanted}


def message(approvals: dict[str, str], *, approved: bool = True, text: str = "Hello") -> Json:
    """The client's message, as it comes back."""
    parts: list[Json] = [{"type": "step-start"}, {"type": "text", "text": text}]
    parts += [
        {
            "type": "tool-rm",
            "toolCallId": call_id,
            "state": "approval-responded",
            "input": {},
            "providerExecuted": True,
            "approval": {"id": approval_id, "approved": approved},
        }
        for call_id, approval_id in approvals.items()
    ]
    return {"id": "chat-1", "messages": [{"id": "t1", "role": "assistant", "parts": parts}]}


async def send_back(gateway: Gateway, body: Json, *, user: str = "u1") -> httpx.Response:
    return await call(gateway, "chat", body, user=user, headers=NATIVE)


async def test_an_approval_ends_the_response_and_its_answer_continues_the_message(
    agent: AskingAgent, gateway: Gateway
) -> None:
    first, _ = await asked(gateway, agent)
    assert outline(first)[-2:] == ["finish-step", "finish"]
    await gateway.has_ended("asked")

    replying = asyncio.create_task(send_back(gateway, message(requests(first))))
    run = await agent.run()
    assert [bytes(answer) for answer in run.run.answers.values()] == [b"true"]
    await run.say(Called("c1", "done"), Text(" world"), Over())
    reply = await replying

    assert reply.status_code == 200
    told = chunks(reply.text)
    assert told[0] == {"type": "start", "messageId": "t1"}
    assert told[1]["type"] == "tool-output-available"
    assert told[1]["toolCallId"] == "c1"
    assert said(reply.text) == " world"
    assert is_whole(reply.text)


async def test_a_reader_gets_the_whole_of_a_turn_that_went_on(
    agent: AskingAgent, gateway: Gateway
) -> None:
    first, _ = await asked(gateway, agent)
    async with prompting(gateway, body=message(requests(first)), headers=NATIVE) as reply:
        run = await agent.run()
        await run.say(Called("c1", "done"), Text(" world"))
        await reply.sees("world")
        async with resuming(gateway, headers=NATIVE) as reader:
            await reader.sees("world")
            await run.say(Over())
            body = await reader.end()
        await reply.end()

    assert said(body) == "Hello world"
    assert chunks(body)[0] == {"type": "start", "messageId": "t1"}
    assert requests(body) == {}, "nobody is asked again"
    assert "tool-output-available" in outline(body)


@pytest.mark.parametrize("user", ["u1", "u2"])
async def test_a_reader_of_a_turn_that_waits_is_asked_with_an_id_of_its_own(
    user: str, agent: AskingAgent, gateway: Gateway
) -> None:
    first, _ = await asked(gateway, agent)
    async with resuming(gateway, user=user, headers=NATIVE) as reader:
        body = await reader.end()
    assert said(body) == "Hello"
    assert requests(body).keys() == {"c1"}
    assert (requests(body) == requests(first)) is (user == "u1") or user == "u1"

    answered = asyncio.create_task(send_back(gateway, message(requests(body)), user=user))
    if user == "u1":
        await (await agent.run()).say(Called("c1", "done"), Over())
    assert (await answered).status_code == (200 if user == "u1" else 409)


async def test_a_turn_that_waits_again(agent: AskingAgent, gateway: Gateway) -> None:
    body, _ = await asked(gateway, agent)
    for number in (2, 3):
        answer = message(requests(body))
        async with prompting(gateway, body=answer, headers=NATIVE) as reply:
            run = await agent.run()
            call_id = f"c{number}"
            await run.say(
                Called(f"c{number - 1}", "done"),
                Called(call_id),
                Asks(f"q{number}", call=call_id),
                Waits(),
            )
            body = await reply.end()
        assert requests(body).keys() == {call_id}
    async with resuming(gateway, headers=NATIVE) as reader:
        whole = await reader.end()

    assert requests(whole).keys() == {"c3"}
    assert outline(whole).count("tool-output-available") == 2


@pytest.mark.parametrize("seconds", [None, 60, -1])
async def test_an_approval_is_kept_until_it_expires(
    seconds: int | None, agent: AskingAgent
) -> None:
    expires_at = None if seconds is None else int((time.time() + seconds) * 1_000)
    async with gateway_of(agent, signing_keys=KEY, turn_log_keep_s=0.001) as gateway:
        first, _ = await asked(gateway, agent, Asks("q1", call="c1", expires_at=expires_at))
        if seconds == -1:
            await until(lambda: gateway.counted("turnwire_turn_log_turns") == 0)
        replying = asyncio.create_task(send_back(gateway, message(requests(first))))
        if seconds != -1:
            await (await agent.run()).say(Called("c1", "done"), Over())

        assert (await replying).status_code == (409 if seconds == -1 else 200)


async def test_an_approval_is_kept_for_its_time(agent: AskingAgent) -> None:
    async with gateway_of(agent, signing_keys=KEY, question_keep_s=0.01) as gateway:
        first, _ = await asked(gateway, agent)
        await until(lambda: gateway.counted("turnwire_turn_log_turns") == 0)
        reply = await send_back(gateway, message(requests(first)))

    assert reply.status_code == 409
    assert reply.json()["code"] == "question_closed"


async def test_what_is_answered_once_is_closed(agent: AskingAgent, gateway: Gateway) -> None:
    first, _ = await asked(gateway, agent)
    replying = asyncio.create_task(send_back(gateway, message(requests(first))))
    run = await agent.run()
    again = await send_back(gateway, message(requests(first)))
    await run.say(Called("c1", "done"), Over())
    await replying
    late = await send_back(gateway, message(requests(first)))

    assert {again.status_code, late.status_code} == {409}
    assert agent.runs.empty()


async def test_every_approval_needs_its_response(agent: AskingAgent, gateway: Gateway) -> None:
    asks = (Asks("q1", call="c1"), Asks("q2", call="c2"))
    first, _ = await asked(gateway, agent, *asks)
    ids = requests(first)
    half = await send_back(gateway, message({"c1": ids["c1"]}))
    replying = asyncio.create_task(send_back(gateway, message(ids, approved=False)))
    run = await agent.run()
    await run.say(Called("c1", "no"), Called("c2", "no"), Over())

    assert half.status_code == 400
    assert [bytes(answer) for answer in run.run.answers.values()] == [b"false", b"false"]
    assert (await replying).status_code == 200


async def test_a_forged_or_foreign_id_answers_nothing(agent: AskingAgent, gateway: Gateway) -> None:
    first, _ = await asked(gateway, agent)
    ids = requests(first)
    forged = await send_back(gateway, message({"c1": ids["c1"][:-4] + "AAAA"}))
    foreign = await send_back(gateway, message(ids), user="u2")
    beside = await call(
        gateway, "answer", {"questionId": "q1", "answer": True, "approvalId": ids["c1"]}
    )
    replying = asyncio.create_task(send_back(gateway, message(ids)))
    await (await agent.run()).say(Called("c1", "done"), Over())

    assert (forged.status_code, foreign.status_code, beside.status_code) == (400, 400, 409)
    assert (await replying).status_code == 200


async def test_a_next_run_that_cannot_begin_leaves_the_turn_waiting(
    agent: AskingAgent, gateway: Gateway
) -> None:
    first, _ = await asked(gateway, agent)
    url = agent.url
    await agent.close()
    failed = await send_back(gateway, message(requests(first)))
    assert errors(failed.text) == ["Connection failed"]
    await agent.listen()
    assert agent.url == url

    replying = asyncio.create_task(send_back(gateway, message(requests(first))))
    await (await agent.run()).say(Called("c1", "done"), Over())

    assert "tool-output-available" in outline((await replying).text)


async def test_a_new_prompt_leaves_the_approval_behind(
    agent: AskingAgent, gateway: Gateway
) -> None:
    first, _ = await asked(gateway, agent)
    prompt = asyncio.create_task(post(gateway))
    await (await agent.run()).say(Begun("t2"), Text("new"), Over())
    assert said((await prompt).text) == "new"

    assert (await send_back(gateway, message(requests(first)))).status_code == 409


async def test_a_stop_ends_the_wait(agent: AskingAgent, gateway: Gateway) -> None:
    first, _ = await asked(gateway, agent)
    stopped = await call(gateway, "stop", {})
    again = await call(gateway, "stop", {})

    assert stopped.json() | {"waitedMs": 0} == {
        "stopped": True,
        "turnId": "t1",
        "reason": "canceled",
        "waitedMs": 0,
    }
    assert again.status_code == 404
    assert (await send_back(gateway, message(requests(first)))).status_code == 409
    async with resuming(gateway, headers=NATIVE) as reader:
        body = await reader.end()
    assert requests(body) == {}
    assert outline(body)[-2:] == ["abort", "finish"]


def answered(question_id: str, answer: Any) -> Json:
    """The client's message with an answered question in it."""
    data = {"questionId": question_id, "state": "answered", "answer": answer}
    parts: list[Json] = [
        {"type": "step-start"},
        {"type": "text", "text": "Hello"},
        {"type": "data-question", "id": question_id, "data": data},
    ]
    return {"id": "chat-1", "messages": [{"id": "t1", "role": "assistant", "parts": parts}]}


async def test_a_message_with_an_answer_follows_the_turn_that_runs(agent: AskingAgent) -> None:
    async with gateway_of(agent) as gateway:
        async with prompting(gateway, policy="continue") as prompt:
            run = await agent.run()
            await run.say(Begun("t1"), Text("Hel"), Text("lo"), Asks("q1"), Waits())
            run.leave()
            await prompt.sees("q1")
        wrong = await call(gateway, "chat", answered("q9", "yes"))
        foreign = await call(gateway, "chat", answered("q1", "yes"), user="u2")
        async with prompting(gateway, body=answered("q1", {"a": 1})) as reply:
            second = await agent.run()
            await second.say(Text(" world"), Over())
            body = await reply.end()
        late = await call(gateway, "chat", answered("q1", "yes"))

    assert [bytes(answer) for answer in second.run.answers.values()] == [b'{"a":1}']
    assert chunks(body)[0] == {"type": "start", "messageId": "t1"}
    assert said(body) == " world"
    questions = [chunk for chunk in chunks(body) if chunk["type"] == "data-question"]
    assert [chunk["data"]["state"] for chunk in questions] == ["resolved"]
    assert [each.status_code for each in (wrong, foreign, late)] == [409, 409, 409]


async def test_without_a_log_nothing_continues(agent: AskingAgent) -> None:
    async with gateway_of(agent, signing_keys=KEY, turn_log="off") as gateway:
        first, _ = await asked(gateway, agent)
        reply = await send_back(gateway, message(requests(first)))

    assert reply.status_code == 501
