"""Where the client keeps the conversation, the agent is sent it, over real sockets."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx
import pytest
from structlog.testing import capture_logs

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Json, errors, new_client, outline, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support.telling_dialect import Telling
from turnwire.core.approvals import Signer
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"


@pytest.fixture(autouse=True)
def in_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, Telling.name, Telling())


def user(text: str, message_id: str = "u1", **more: Any) -> Json:
    parts = [{"type": "text", "text": text}]
    return {"id": message_id, "role": "user", "parts": parts, **more}


def assistant(*parts: Json, message_id: str = "a1") -> Json:
    return {"id": message_id, "role": "assistant", "parts": parts}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def tool(state: str, **more: Any) -> Json:
    return {"type": "tool-add", "toolCallId": "c1", "input": {"a": 1}, "state": state, **more}


class Talk:
    """A gateway, its agent, and what the agent was sent."""

    def __init__(self, agent: ScriptedAgent, gateway: Gateway, client: httpx.AsyncClient) -> None:
        self.agent, self.gateway, self._client = agent, gateway, client

    async def post(self, *messages: Any, **fields: Any) -> httpx.Response:
        url = f"{self.gateway.url}/api/sessions/s1/chat"
        body = json.dumps({"id": "chat-1", "messages": messages, **fields})
        headers = {**bearer("u1"), "content-type": "application/json"}
        return await self._client.post(url, content=body, headers=headers)

    @property
    def sent(self) -> Mapping[str, Any]:
        """The content of the last prompt that the agent got."""
        content: Mapping[str, Any] = json.loads(self.agent.lines[-1].heard[0]["content"])
        return content

    @property
    def messages(self) -> list[tuple[str, Any]]:
        return [(each["role"], each.get("content")) for each in self.sent["messages"]]


@asynccontextmanager
async def talk(**given: Any) -> AsyncIterator[Talk]:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), dialect=Telling.name, turn_log="off", given=given) as gateway,
        new_client() as client,
    ):
        yield Talk(agent, gateway, client)


async def test_the_agent_is_sent_the_conversation() -> None:
    called = {"name": "add", "arguments": '{"a": 1}'}
    async with talk() as chat:
        answer = tool("output-available", output=3)
        response = await chat.post(
            user("1 + 2?"), assistant(text("I add."), answer, text("It is 3.")), user("And?", "u2")
        )

    assert said(response.text) == "Hello world"
    assert chat.sent["sendsHistory"]
    assert chat.sent["messages"] == [
        {"role": "user", "id": "u1", "content": "1 + 2?"},
        {
            "role": "assistant",
            "id": "a1",
            "content": "I add.",
            "toolCalls": [{"type": "function", "id": "c1", "function": called}],
        },
        {"role": "tool", "id": "c1:result", "toolCallId": "c1", "content": "3"},
        {"role": "assistant", "id": "a1:1", "content": "It is 3."},
        {"role": "user", "id": "u2", "content": "And?"},
    ]


async def test_an_agent_that_keeps_it_is_sent_what_is_new() -> None:
    async with talk(history="agent") as chat:
        await chat.post(user("a"), assistant(text("b")), user("c", "u2"))

    assert chat.messages == [("user", "c")]
    assert not chat.sent["sendsHistory"]


async def test_a_prompt_that_is_answered_again_is_the_last_message() -> None:
    async with talk() as chat:
        await chat.post(
            user("a"), assistant(text("b")), user("c"), assistant(), trigger="regenerate-message"
        )

    assert chat.messages == [("user", "a"), ("assistant", "b"), ("user", "c")]


async def test_the_settings_say_how_much_is_sent() -> None:
    system = {"role": "system", "content": "Be brief."}
    earlier = [user("a"), assistant(text("b"))] * 3

    async with talk(history_messages=4) as chat:
        await chat.post(*earlier, user("c"))
        assert [role for role, _ in chat.messages] == ["user", "assistant", "user"]
    async with talk(client_system="true") as chat:
        await chat.post(system, user("c"))
        assert chat.messages == [("system", "Be brief."), ("user", "c")]
    async with talk() as chat:
        await chat.post(system, user("c"))
        assert chat.messages == [("user", "c")]


async def test_what_was_left_out_is_counted_in_the_log_and_not_shown() -> None:
    with capture_logs() as logs:
        async with talk(history_messages=3) as chat:
            await chat.post(
                user("secret"),
                assistant(text("secret")),
                user("hi"),
                assistant({"type": "secret"}, text("\ud83d"), text("kept")),
                user("hi"),
            )

            assert chat.gateway.counted("turnwire_history_left_out_total") == 4

    (line,) = [each for each in logs if "left_out" in each]
    assert line["left_out"] == {
        "message": 2,
        "half of a character": 1,
        "part of an unknown type": 1,
    }
    assert (line["session_id"], line["user_id"]) == ("s1", "u1")
    assert "request_id" in line
    assert "secret" not in str(line)
    assert chat.messages[1] == ("assistant", "\ufffd\n\nkept")


async def test_where_nothing_was_left_out_nothing_is_logged() -> None:
    with capture_logs() as logs:
        async with talk() as chat:
            await chat.post(user("hi"))

    assert not any("left_out" in each for each in logs)


async def test_what_the_agent_cannot_be_sent_of_a_prompt_is_refused() -> None:
    async with talk() as chat:
        prompt = user("hi")
        prompt["parts"].append({"type": "hologram"})
        response = await chat.post(prompt)

        assert response.status_code == 400
        assert response.json()["error"].endswith("part of an unknown type")
        assert chat.agent.connections == 0


# Answers


def signed(question_id: str = "q1", *, user_id: str = "u1", valid_s: float = 1_000_000) -> str:
    signer = Signer(keys=[KEY.encode()], session_id="s1", user_id=user_id)
    return signer.sign(question_id, b"subject", time.time() + valid_s) or ""


def approved(approval_id: str) -> Json:
    return tool("approval-responded", approval={"id": approval_id, "approved": True})


def answered(approval_id: str) -> Json:
    data = {"state": "answered", "answer": True, "callId": "c1", "approvalId": approval_id}
    return {"type": "data-question", "id": "q1", "data": data}


@pytest.mark.parametrize("keeper", ["client", "agent"])
@pytest.mark.parametrize(
    "parts", [[approved(signed())], [tool("input-available"), answered(signed())]]
)
async def test_a_call_with_a_signed_approval_waits(keeper: str, parts: list[Json]) -> None:
    async with talk(signing_keys=KEY, history=keeper) as chat:
        response = await chat.post(user("go"), assistant(*parts))

    assert "start" in outline(response.text)
    assert chat.sent["pending"] == ["c1"]
    assert chat.sent["sendsHistory"] is (keeper == "client")
    assert chat.sent["replies"] == {"q1": True}
    roles = [role for role, _ in chat.messages]
    assert roles == (["user", "assistant"] if keeper == "client" else [])


@pytest.mark.parametrize(
    ("approval_id", "status"),
    [
        ("forged", 400),
        (signed(user_id="u2"), 400),
        (signed(valid_s=-1), 409),
    ],
    ids=["forged", "of another user", "expired"],
)
async def test_any_other_approval_is_refused(approval_id: str, status: int) -> None:
    async with talk(signing_keys=KEY) as chat:
        response = await chat.post(user("go"), assistant(approved(approval_id)))

        assert response.status_code == status
        assert chat.agent.connections == 0


@pytest.mark.parametrize("keeper", ["client", "agent"])
async def test_an_approval_that_is_sent_again_begins_nothing(keeper: str) -> None:
    async with talk(signing_keys=KEY, history=keeper) as chat:
        first = await chat.post(user("go"), assistant(approved(signed())))
        later = signed(valid_s=500_000)
        again = [
            await chat.post(user("go"), assistant(approved(each))) for each in (signed(), later)
        ]
        other = await chat.post(user("go"), assistant(approved(signed("q2"))))

        assert (first.status_code, other.status_code) == (200, 200)
        assert [each.status_code for each in again] == [409, 409]
        assert again[0].json()["code"] == "question_closed"
        assert chat.agent.connections == 2


async def test_an_approval_that_no_agent_got_may_be_sent_again() -> None:
    async with talk(signing_keys=KEY) as chat:
        chat.agent.status = 503
        refused = await chat.post(user("go"), assistant(approved(signed())))
        chat.agent.status = None
        taken = await chat.post(user("go"), assistant(approved(signed())))

    assert errors(refused.text) == ["Connection failed"]
    assert "start" in outline(taken.text)


async def test_without_keys_no_call_waits() -> None:
    async with talk() as chat:
        await chat.post(user("go"), assistant(tool("input-available"), answered("forged")))

    assert chat.sent["pending"] == []
    assert chat.messages[-1] == ("tool", "No result")


# Memory

MB: Final = 1_000_000


async def forget(line: Line) -> None:
    await line.begin()
    line.heard.clear()
    await line.say(frames.finalize())


async def test_a_conversation_counts_until_it_is_sent() -> None:
    may_admit = asyncio.Event()
    async with (
        ScriptedAgent(forget, admits=may_admit) as agent,
        Gateway(
            agent.url(), dialect=Telling.name, turn_log="off", given={"signing_keys": KEY}
        ) as gateway,
        new_client() as client,
    ):
        budget = gateway.dialler.budget
        chat = Talk(agent, gateway, client)
        earlier = user("x" * MB)
        for last in (user("hi", "u2"), assistant(approved(signed()))):
            may_admit.clear()
            sending = asyncio.create_task(chat.post(earlier, last))
            await until(lambda: MB <= budget.held_bytes < 1.1 * MB)
            may_admit.set()
            await sending
            assert budget.held_bytes == 0
