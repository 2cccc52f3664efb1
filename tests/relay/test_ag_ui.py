"""An AG-UI agent over real HTTP: prompts, the conversation, approvals."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from gateway.clients import ask, chunks, new_client
from gateway.http_agent import Asked, HttpAgent
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support import ag_ui_frames as f
from support.http_dialect import CHUNKED, END, chunk
from turnwire.testing.client_model import Client
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits

pytestmark = pytest.mark.sockets

KEY: Final = "a key that signs approvals and nothing else"


@pytest.fixture
async def agent() -> AsyncIterator[AgUiAgent]:
    async with AgUiAgent(Habits(pace_s=0, slow_s=0)) as agent:
        yield agent


async def chat(gateway: Gateway, body: Any, **headers: str) -> Client:
    """Post, and read the stream to its end."""
    async with new_client() as client:
        response = await client.post(
            f"{gateway.url}/api/sessions/s1/chat", json=body, headers=bearer("u1") | headers
        )
    assert response.status_code == 200, response.text
    reader = Client(named=None, native="x-turnwire-profile" in headers)
    reader.read(response.content)
    reader.close()
    return reader


def message(client: Client, **more: Any) -> Any:
    """The assistant's message as the client has it, to be sent back."""
    return {"id": client.message_id, "role": "assistant", "parts": client.parts} | more


USER: Final = ask("approve 12*7")["messages"][0]
HELLO: Final = {"id": "m2", "role": "user", "parts": [{"type": "text", "text": "hello"}]}
NATIVE: Final = {"x-turnwire-profile": "6"}


def approved(client: Client, approval_id: str) -> Any:
    """The body of an answer: the whole message, with the user's yes at the card."""
    answer = {"state": "approval-responded", "approval": {"id": approval_id, "approved": True}}
    parts = [
        part | answer if part.get("state") == "input-available" else part for part in client.parts
    ]
    return ask() | {"messages": [USER, message(client, parts=parts)]}


async def test_a_turn_with_a_tool_and_the_conversation(agent: AgUiAgent) -> None:
    async with Gateway(f"{agent.url}?session={{session_id}}", dialect="ag-ui") as gateway:
        first = await chat(gateway, ask("what is 12*7?"))
        again = ask("hello") | {
            "messages": [*ask("what is 12*7?")["messages"], message(first), HELLO]
        }
        await chat(gateway, again)

    assert set(first.tools.values()) == {"output"}
    one, two = (run.input for run in agent.runs)
    assert two["threadId"] == one["threadId"]
    assert [each["role"] for each in two["messages"]][:3] == ["user", "assistant", "tool"]
    assert two["messages"][-1]["id"] == "m2"


async def test_a_prompt_without_an_id_has_another_one_than_its_answer(agent: AgUiAgent) -> None:
    asked = {"messages": [{"role": "user", "parts": [{"type": "text", "text": "hello"}]}]}
    async with Gateway(f"{agent.url}?session={{session_id}}", dialect="ag-ui") as gateway:
        answered = await chat(gateway, asked)

    (run,) = agent.runs
    sent_id = run.input["messages"][0]["id"]
    assert sent_id
    assert sent_id != answered.message_id


async def test_an_approval_is_answered_and_the_next_run_goes_on_in_the_message(
    agent: AgUiAgent,
) -> None:
    async with (
        Gateway(
            f"{agent.url}?session={{session_id}}", dialect="ag-ui", signing_keys=KEY
        ) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        headers = bearer("u1") | NATIVE
        asked = await client.post(url, json=ask("approve 12*7"), headers=headers)
        reader = Client(named=None, native=True)
        seen = chunks(asked.content)
        (request,) = [each for each in seen if each["type"] == "tool-approval-request"]
        plain = b"".join(
            record + b"\n\n"
            for record in asked.content.split(b"\n\n")
            if record and b"tool-approval-request" not in record
        )
        reader.read(plain.partition(b"event: finish-step")[0])
        body = approved(reader, request["approvalId"])
        answered = await client.post(url, json=body, headers=headers)
        forged = await client.post(
            url, json=approved(reader, request["approvalId"][:-2] + "AA"), headers=headers
        )

    told = chunks(answered.content)
    assert told[0] == {"type": "start", "messageId": reader.message_id}
    assert [each["type"] for each in told].count("tool-output-available") == 1
    assert not [each for each in told if each["type"].startswith("tool-input")]
    assert told[-1]["type"] == "finish"
    assert agent.runs[-1].input["resume"][0]["payload"] == {"approved": True}
    assert forged.status_code == 400
    assert len(agent.runs) == 2


async def test_an_event_that_never_ends_is_read_no_further_than_the_longest_frame(
    capsys: pytest.CaptureFixture[str],
) -> None:
    piece, sent, most = b"x" * 65_536, 0, 2**26

    async def script(asked: Asked) -> None:
        nonlocal sent
        begun = f.event("RUN_STARTED"), f.text("Hello")
        await asked.say(CHUNKED + chunk(b"".join(b"data: %b\n\n" % each for each in begun)))
        with suppress(ConnectionError):
            await asked.say(chunk(b"data: " + f.text("")[:-2]))
            while sent < most:
                await asked.say(chunk(piece))
                sent += len(piece)

    async with (
        HttpAgent(script) as agent,
        Gateway(agent.url, dialect="ag-ui", frame_bytes=100_000) as gateway,
    ):
        client = await chat(gateway, ask("hello"))
        await agent.all_left()

    assert client.error == "Stream interrupted"
    assert sent < most / 4  # more than the limit only by what the sockets hold
    assert "too_big" in capsys.readouterr().out


async def test_megabytes_of_the_frameworks_events_break_no_limit_and_nothing_is_shown() -> None:
    """Beside a text of some words, as a graph with large states tells them."""
    copy = {"event": "on_chain_stream", "data": {"messages": ["secret " * 10_000]}}
    words = [f"word {number} " for number in range(40)]

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(b"data: %b\n\n" % f.event("RUN_STARTED")))
        for word in words:
            told = f.event("RAW", event=copy), f.text(word, rawEvent=copy)
            await asked.say(chunk(b"".join(b"data: %b\n\n" % each for each in told)))
        await asked.say(chunk(b"data: %b\n\n" % f.event("RUN_FINISHED")) + END)

    with capture_logs() as logs:
        async with HttpAgent(script) as agent, Gateway(agent.url, dialect="ag-ui") as gateway:
            client = await chat(gateway, ask("hello"))
            await until(lambda: any(each["event"] == "stream ended" for each in logs))

    (line,) = [each for each in logs if each["event"] == "stream ended"]
    assert client.text == "".join(words)
    assert (line["outcome"], line["left_out"]) == ("completed", {"RAW": 40})
    assert line["left_out_bytes"] > 2_500_000


@pytest.mark.fault(
    "an agent of ag-ui mixes another run into the response",
    "nothing of it is shown; its events are counted as foreign",
)
async def test_a_run_that_is_spliced_into_the_response_is_not_shown() -> None:
    async def script(asked: Asked) -> None:
        run = json.loads(asked.body)
        ids = {"threadId": run["threadId"], "runId": run["runId"]}
        other = {"threadId": run["threadId"], "runId": "run-9"}
        frames = [
            *(f.event("RUN_STARTED", **other), f.text("secret"), f.event("RUN_FINISHED", **other)),
            *(f.event("RUN_STARTED", **ids), f.text("ours"), f.event("RUN_STARTED", **other)),
            *(f.text("secret"), f.event("RUN_FINISHED", **other)),
            f.event("RUN_FINISHED", **ids),
        ]
        await asked.say(CHUNKED, *(chunk(b"data: %b\n\n" % frame) for frame in frames), END)

    async with HttpAgent(script) as agent, Gateway(agent.url, dialect="ag-ui") as gateway:
        client = await chat(gateway, ask("hello"))
        foreign = gateway.counted("turnwire_frames_foreign_total")

    assert client.text == "ours"
    assert foreign == 6


async def test_what_no_client_is_shown_is_in_the_line_of_the_log() -> None:
    async def script(asked: Asked) -> None:
        events = (
            f.event("RUN_STARTED", protocolVersion="1.0"),
            f.event("STATE_SNAPSHOT", snapshot={"secret": 1}),
            f.custom("progress", "secret"),
            f.failed("no quota", code="rate_limit"),
        )
        await asked.say(CHUNKED + chunk(b"".join(b"data: %b\n\n" % each for each in events)))

    with capture_logs() as logs:
        async with HttpAgent(script) as agent, Gateway(agent.url, dialect="ag-ui") as gateway:
            await chat(gateway, ask("hello"))
            await until(lambda: any(each["event"] == "stream ended" for each in logs))

    (line,) = [each for each in logs if each["event"] == "stream ended"]
    assert line["protocol_version"] == "1.0"
    assert line["error_code"] == "rate_limit"
    assert line["left_out"] == {"STATE_SNAPSHOT": 1, "CUSTOM progress": 1}
    assert "secret" not in str(line)
