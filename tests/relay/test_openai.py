"""Agents behind OpenAI's APIs over real HTTP: what they are asked, the conversation, approvals."""

import json
from typing import Any, Final

import pytest

from gateway.clients import ask, chunks, new_client
from gateway.http_agent import Asked, HttpAgent
from gateway.running import Gateway
from gateway.tokens import bearer
from support import openai_chat_frames as c
from support import openai_responses_frames as r
from support.http_dialect import chunked
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.testing.client_model import Client

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"
SERVICE: Final = {"agent_model": "m1", "agent_auth": "service", "agent_token": "a-key"}
NATIVE: Final = {"x-turnwire-profile": "6"}
LATER: Final = {"id": "m2", "role": "user", "parts": [{"type": "text", "text": "And now?"}]}
RAN: Final = r.tool("mcp_call", name="delete_file", approval_request_id="mcpr_1", output="gone")


def events(*frames: bytes) -> bytes:
    return chunked(*(b"data: %b\n\n" % frame for frame in frames))


def gateway_of(agent: HttpAgent, wire: str, **more: Any) -> Gateway:
    return Gateway(f"http://127.0.0.1:{agent.port}/v1?a=1", given=SERVICE, dialect=wire, **more)


async def chat(gateway: Gateway, body: Any) -> Client:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/s1/chat"
        response = await client.post(url, json=body, headers=bearer("u1"))
    assert response.status_code == 200, response.text
    reader = Client(named=None)
    reader.read(response.content)
    reader.close()
    return reader


async def test_an_agent_is_asked_as_these_servers_expect_it() -> None:
    async def script(asked: Asked) -> None:
        await asked.say(events(c.started(), c.text("Hello"), c.finished(), c.DONE))

    async with (
        HttpAgent(script) as agent,
        gateway_of(agent, "openai-chat", agent_request='{"temperature":0.2}') as gateway,
    ):
        client = await chat(gateway, ask("hi"))
        (asked,) = agent.requests

    assert client.text == "Hello"
    assert asked.line == "POST /v1/chat/completions?a=1 HTTP/1.1"
    assert asked.headers["authorization"] == "Bearer a-key"
    assert asked.headers["x-turnwire-user"] == "u1"
    assert json.loads(asked.body) == {
        "stream_options": {"include_usage": True},
        "temperature": 0.2,
        "model": "m1",
        "stream": True,
        "messages": [{"role": "user", "content": "hi"}],
    }


@pytest.mark.parametrize("history", ["client", "agent"])
async def test_the_conversation_is_sent_whole_or_not_at_all(history: str) -> None:
    async def script(asked: Asked) -> None:
        call = [*r.whole_call(), r.item_done(r.output("21"), 2)]
        await asked.say(events(r.created(), *call, r.text("It is 21.", 3), r.completed()))

    async with (
        HttpAgent(script) as agent,
        gateway_of(agent, "openai-responses", history=history) as gateway,
    ):
        first = await chat(gateway, ask("12 + 9?"))
        answer = {"id": first.message_id, "role": "assistant", "parts": first.parts}
        messages = [*ask("12 + 9?")["messages"], answer, LATER]
        await chat(gateway, ask() | {"messages": messages})
        one, two = (json.loads(each.body) for each in agent.requests)

    kinds = [item["type"] for item in two["input"]]
    if history == "client":
        calls = ["function_call", "function_call_output"]
        assert kinds == ["message", *calls, "message", "message"]
        assert "conversation" not in two
    else:
        assert kinds == ["message"]
        assert two["conversation"] == one["conversation"]
    assert two["input"][-1]["content"] == "And now?"


PREVIOUS: Final = {"history": "agent", "agent_thread": "previous-response"}


def answers(*, missing: frozenset[str] = frozenset(), status: int = 404) -> Any:
    """An agent that numbers its responses, and refuses to go on with those that are missing."""
    count = iter(range(1, 100))

    async def script(asked: Asked) -> None:
        if json.loads(asked.body).get("previous_response_id") in missing:
            head = f"HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n"
            await asked.say(head.encode())
            return
        named = {"id": f"resp_{next(count)}", "status": "completed"}
        begun, over = (
            r.event(f"response.{kind}", response=named) for kind in ("created", "completed")
        )
        await asked.say(events(begun, r.text("Hello"), over))

    return script


async def prompt(gateway: Gateway, session: str = "s1", user: str = "u1", **fields: Any) -> int:
    async with new_client() as client:
        url = f"{gateway.url}/api/sessions/{session}/chat"
        response = await client.post(url, json=ask("hi") | fields, headers=bearer(user))
    return response.status_code


async def test_a_prompt_goes_on_with_the_response_before_it_in_its_own_chat_alone() -> None:
    injected = {"previous_response_id": "resp_9", "conversation": "x", "agentSession": "resp_9"}
    async with (
        HttpAgent(answers()) as agent,
        gateway_of(agent, "openai-responses", **PREVIOUS) as gateway,
    ):
        for session, user, fields in (
            *(("s1", "u1", injected), ("s1", "u1", injected), ("s2", "u1", {})),
            *(("s1", "u1", {}), ("s2", "u1", {})),
        ):
            assert await prompt(gateway, session, user, **fields) == 200
        bodies = [json.loads(each.body) for each in agent.requests]

    assert [body.get("previous_response_id") for body in bodies] == [
        *(None, "resp_1", None, "resp_2", "resp_3"),
    ]
    assert not any("conversation" in body for body in bodies)
    assert [len(body["input"]) for body in bodies] == [1] * 5


@pytest.mark.parametrize(("status", "is_known"), [(404, False), (400, False), (500, True)])
async def test_a_response_that_the_agent_does_not_know_is_forgotten(
    status: int, *, is_known: bool
) -> None:
    script = answers(missing=frozenset({"resp_1"}), status=status)
    async with (
        HttpAgent(script) as agent,
        gateway_of(agent, "openai-responses", **PREVIOUS) as gateway,
    ):
        assert await prompt(gateway) == 200
        await prompt(gateway)
        await prompt(gateway)
        bodies = [json.loads(each.body) for each in agent.requests]

    assert bodies[1]["previous_response_id"] == "resp_1"
    assert bodies[-1].get("previous_response_id") == ("resp_1" if is_known else None)


@pytest.mark.parametrize("given", [{}, {"history": "agent"}])
async def test_no_session_is_looked_up_where_none_is_used(
    given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []

    async def noted(_log: MemoryTurnLog, key: str) -> None:
        looked_up.append(key)

    monkeypatch.setattr(MemoryTurnLog, "session", noted)
    async with (
        HttpAgent(answers()) as agent,
        gateway_of(agent, "openai-responses", **given) as gateway,
    ):
        assert [await prompt(gateway), await prompt(gateway)] == [200, 200]

    assert looked_up == []


def approved(client: Client, approval_id: str) -> Any:
    """The body of an answer: the whole message, with the user's yes at the card."""
    answer = {"state": "approval-responded", "approval": {"id": approval_id, "approved": True}}
    parts = [
        part | answer if part.get("state") == "input-available" else part for part in client.parts
    ]
    message = {"id": client.message_id, "role": "assistant", "parts": parts}
    return ask() | {"messages": [*ask("delete it")["messages"], message]}


@pytest.mark.parametrize(("turn_log", "given"), [("memory", {}), ("off", {}), ("memory", PREVIOUS)])
async def test_an_approval_is_answered_and_the_next_response_goes_on_in_the_message(
    turn_log: str, given: dict[str, str]
) -> None:
    async def script(asked: Asked) -> None:
        if b"mcp_approval_response" in asked.body:
            await asked.say(events(r.item_done(RAN, 0), r.text("Done.", 1), r.completed()))
        else:
            said = r.item_done(r.message("I can. "), 0)
            await asked.say(events(r.created(), said, r.item_done(r.asks()), r.completed()))

    async with (
        HttpAgent(script) as agent,
        gateway_of(
            agent, "openai-responses", signing_keys=KEY, turn_log=turn_log, **given
        ) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        headers = bearer("u1") | NATIVE
        asked = await client.post(url, json=ask("delete it"), headers=headers)
        seen = chunks(asked.content)
        (request,) = [each for each in seen if each["type"] == "tool-approval-request"]
        reader = Client(named=None, native=True)
        records = [each for each in asked.content.split(b"\n\n") if each]
        plain = [each for each in records if b"tool-approval-request" not in each]
        reader.read((b"\n\n".join(plain) + b"\n\n").partition(b"event: finish-step")[0])
        body = approved(reader, request["approvalId"])
        answered = await client.post(url, json=body, headers=headers)
        forged = await client.post(
            url, json=approved(reader, request["approvalId"][:-2] + "AA"), headers=headers
        )
        second = json.loads(agent.requests[-1].body)
        sent = second["input"]
        count = len(agent.requests)

    told = chunks(answered.content)
    assert told[0] == {"type": "start", "messageId": reader.message_id}
    outcomes = [each for each in told if each["type"] == "tool-output-available"]
    assert [(each["toolCallId"], each["output"]) for each in outcomes] == [("mcpr_1", "gone")]
    assert not [each for each in told if each["type"].startswith("tool-input")]
    assert told[-1]["type"] == "finish"
    if given:
        assert [item["type"] for item in sent] == ["mcp_approval_response"]
        assert second["previous_response_id"] == "resp_1"
    else:
        assert [item["type"] for item in sent] == [
            *("message", "message", "mcp_approval_request", "mcp_approval_response"),
        ]
        assert sent[-2]["server_label"] == "files"
    assert sent[-1]["approve"] is True
    assert (forged.status_code, count) == (400, 2)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses"])
async def test_a_hang_up_closes_the_connection_to_the_agent(wire: str) -> None:
    frames = {"openai-chat": [c.started(), c.text("Hel")], "openai-responses": [r.text("Hel")]}

    async def script(asked: Asked) -> None:
        head, _, _ = events(*frames[wire]).rpartition(b"0\r\n\r\n")
        await asked.say(head)
        await asked.is_left()

    async with HttpAgent(script) as agent, gateway_of(agent, wire) as gateway:
        async with new_client() as client:
            url = f"{gateway.url}/api/sessions/s1/chat"
            async with client.stream("POST", url, json=ask(), headers=bearer("u1")) as response:
                async for piece in response.aiter_bytes():
                    if b"Hel" in piece:
                        break
        await agent.all_left()
        await gateway.has_ended("client_gone")
