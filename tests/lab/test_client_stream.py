"""What the client for programs makes of streams, well made or not."""

import json
from typing import Any, Protocol

import pytest

from turnwire_lab.client import message
from turnwire_lab.client.building import Building
from turnwire_lab.client.chunks import AgentStatus, Data, parse
from turnwire_lab.client.client import Client
from turnwire_lab.client.errors import Malformed, Refused, Truncated, TurnError
from turnwire_lab.client.message import UIMessage, read
from turnwire_lab.client.question import Question

Chunk = dict[str, Any]

START: Chunk = {"type": "start", "messageId": "t1"}
OPEN: Chunk = {"type": "text-start", "id": "t1:t0"}
DELTA: Chunk = {"type": "text-delta", "id": "t1:t0", "delta": "Hi"}
CLOSE: Chunk = {"type": "text-end", "id": "t1:t0"}
GIVEN: Chunk = {"type": "tool-input-available", "toolCallId": "c1", "toolName": "t", "input": {}}
PIECE: Chunk = {"type": "tool-input-delta", "toolCallId": "c1", "inputTextDelta": "{}"}
OUTPUT: Chunk = {"type": "tool-output-available", "toolCallId": "c1", "output": None}
ERROR: Chunk = {"type": "error", "errorText": "Broken"}
FINISH: Chunk = {"type": "finish"}


class Gateway(Protocol):
    """The fixture of conftest.py, as far as these tests use it."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes
    others: dict[str, tuple[int, bytes]]
    asked: list[tuple[str, str | None, Any]]

    def say(self, *chunks: Chunk, done: bool = True) -> None: ...


def built(*told: Chunk) -> UIMessage:
    building = Building()
    for chunk in told:
        building.take(parse(json.dumps(chunk)))
    return building.message


def test_a_message_from_all_kinds_of_chunks() -> None:
    whole = built(
        {"type": "data-agent-status", "data": {"status": "queued", "more": 1}, "transient": True},
        {**START, "messageMetadata": {"a": 1}, "unheardOf": True},
        {"type": "start-step"},
        {"type": "reasoning-start", "id": "t1:t0"},
        {"type": "reasoning-delta", "id": "t1:t0", "delta": "hm"},
        {"type": "reasoning-end", "id": "t1:t0"},
        OPEN,
        DELTA,
        CLOSE,
        {"type": "tool-input-start", "toolCallId": "c1", "toolName": "t"},
        PIECE,
        GIVEN,
        {"type": "tool-approval-request", "toolCallId": "c1", "approvalId": "a1"},
        {**OUTPUT, "output": "half", "preliminary": True},
        OUTPUT,
        {**GIVEN, "toolCallId": "c2"},
        {"type": "tool-output-error", "toolCallId": "c2", "errorText": "Broken"},
        {**GIVEN, "toolCallId": "c3"},
        {"type": "tool-output-denied", "toolCallId": "c3"},
        {"type": "file", "url": "data:,", "mediaType": "text/plain"},
        {"type": "source-url", "sourceId": "s", "url": "u", "title": "A page"},
        {"type": "data-question", "id": "q1", "data": {"text": "Why?", "state": "open"}},
        {"type": "data-chart", "id": "d1", "data": [1]},
        {"type": "data-chart", "data": [0]},
        {"type": "data-chart", "id": "d1", "data": [2]},
        {"type": "data-question", "id": "q1", "data": {"text": "Why?", "state": "expired"}},
        {"type": "message-metadata", "messageMetadata": {"b": 2}},
        {"type": "finish-step"},
        {**FINISH, "messageMetadata": {"a": 3}},
    )

    tool = message.Tool(name="t", tool_call_id="c1", input={}, state="output-available")
    tool.approval_id = "a1"
    assert whole == UIMessage(
        "t1",
        "assistant",
        [
            message.StepStart(),
            message.Reasoning("hm"),
            message.Text("Hi"),
            tool,
            message.Tool(
                name="t", tool_call_id="c2", input={}, state="output-error", error_text="Broken"
            ),
            message.Tool(name="t", tool_call_id="c3", input={}, state="output-denied"),
            message.File("data:,", "text/plain"),
            message.Source("s", "u", "A page"),
            Question("q1", "Why?", "expired"),
            Data("chart", [2], "d1"),
            Data("chart", [0]),
        ],
        {"a": 3, "b": 2},
    )
    assert whole.text == "Hi"


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ([DELTA], "before the start"),
        ([FINISH], "before the start"),
        ([START, START], "starts twice"),
        ([START, DELTA], "'t1:t0' is not open"),
        ([START, CLOSE], "'t1:t0' is not open"),
        ([START, OPEN, CLOSE, DELTA], "'t1:t0' is not open"),
        ([START, OPEN, OPEN], "opens twice"),
        ([START, OPEN, {"type": "finish-step"}], "open at the FinishStep"),
        ([START, OPEN, ERROR], "open at the Error"),
        ([START, OPEN, {"type": "abort"}], "open at the Abort"),
        ([START, OPEN, FINISH], "open at the finish"),
        ([START, OUTPUT], "'c1' was not told before"),
        ([START, GIVEN, FINISH], "'c1' has no outcome"),
        ([START, PIECE], "'c1' was not told before"),
        ([START, GIVEN, PIECE], "'c1' goes on after its end"),
        (
            [START, GIVEN, {"type": "tool-input-start", "toolCallId": "c1", "toolName": "t"}],
            "'c1' begins twice",
        ),
        ([START, FINISH, ERROR], "after the finish"),
        ([START, {"type": "tool-result"}], "is no chunk"),
        ([START, {"type": "text-start", "id": 1}], "is no chunk"),
        ([START, {"type": "data-question", "id": "q", "data": {"options": 1}}], "is no chunk"),
    ],
)
def test_what_may_not_stand_there_is_an_error(told: list[Chunk], why: str) -> None:
    with pytest.raises(Malformed, match=why):
        built(*told)


def test_data_of_any_name_is_taken() -> None:
    assert parse('{"type":"data-agent-status","data":{"status":"idle"}}') == AgentStatus("idle")
    assert parse('{"type":"data-x","data":1,"transient":true}') == Data("x", 1, transient=True)
    assert parse('{"type":"data-question","data":1}') == Data("question", 1)


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("told", "done", "error", "why"),
    [
        ((START, OPEN, DELTA, CLOSE), True, Truncated, "ended without `finish`"),
        ((START, OPEN, DELTA), False, Truncated, "ended without `finish`"),
        ((), False, Truncated, "ended without `finish`"),
        ((START, ERROR, FINISH), True, TurnError, "Broken"),
        ((START, ERROR), False, TurnError, "Broken"),
    ],
)
async def test_how_a_stream_can_end(
    gateway: Gateway,
    told: tuple[Chunk, ...],
    done: bool,  # noqa: FBT001 - a column of the table
    error: type[Exception],
    why: str,
) -> None:
    gateway.say(*told, done=done)

    async with Client(gateway.url, "s", None) as client, client.chat("hi") as stream:
        with pytest.raises(error, match=why):
            await stream.end()


@pytest.mark.sockets
async def test_a_connection_that_breaks_is_a_truncated_stream(gateway: Gateway) -> None:
    gateway.say(START, OPEN, DELTA, done=False)
    gateway.headers["content-length"] = "100000"

    async with Client(gateway.url, "s", None) as client, client.chat("hi") as stream:
        with pytest.raises(Truncated, match="broke in the middle"):
            await stream.end()
    assert stream.message.parts == [message.Text("Hi", "streaming")]


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html>"),
        ("text/event-stream", b"data: no json\n\n"),
        ("text/event-stream", b'data: {"type":"start"}\ndata: {}\n\n'),
    ],
)
async def test_what_is_no_stream_is_malformed(gateway: Gateway, kind: str, body: bytes) -> None:
    gateway.headers["content-type"] = kind
    gateway.body = body

    async with Client(gateway.url, "s", None) as client, client.chat("hi") as stream:
        with pytest.raises(Malformed):
            await stream.end()


@pytest.mark.sockets
async def test_an_event_without_data_and_a_comment_are_nothing(gateway: Gateway) -> None:
    told = b'event: ping\n\n: hm\n\nid: 7\ndata: {"type":"start"}\n\ndata: {"type":"finish"}\n\n'
    gateway.body = told

    async with Client(gateway.url, "s", None) as client, client.chat("hi") as stream:
        await stream.end()
    assert stream.turn_id is None


@pytest.mark.sockets
async def test_a_refusal_says_when_to_come_back(gateway: Gateway) -> None:
    gateway.status, gateway.body = 503, b'{"error":"Full","code":"too_many","requestId":"r"}'
    gateway.headers = {"content-type": "application/json", "retry-after": "3"}

    async with Client(gateway.url, "s", None) as client:
        with pytest.raises(Refused, match="503: Full") as refused:
            async with client.chat("hi"):
                pass
    told = refused.value
    assert (told.status, told.code, told.text, told.retry_after) == (503, "too_many", "Full", 3)


@pytest.mark.sockets
async def test_what_goes_along_with_a_request(gateway: Gateway) -> None:
    gateway.say(START, FINISH)
    gateway.others["messages"] = 200, b"[]"
    where = {"channelId": "c1"}

    async with Client(gateway.url, "a:b", " t ", chat_id="c/1", query=where) as client:
        async with client.chat("hi", on_disconnect="grace", profile="v6") as stream:
            await stream.end()
        assert stream.response.request.headers["x-turnwire-profile"] == "v6"
        assert await client.messages(limit=2, before="m") == []
        with pytest.raises(Refused, match="501"):
            async with client.resume(profile="v6"):
                pass

    assert [path for path, _, _ in gateway.asked] == [
        "/api/sessions/a%3Ab/chat?channelId=c1&onDisconnect=grace",
        "/api/sessions/a%3Ab/messages?channelId=c1&limit=2&before=m",
        "/api/sessions/a%3Ab/chat/c%2F1/stream?channelId=c1",
    ]
    assert gateway.asked[0][1] == "Bearer t"
    assert gateway.asked[0][2]["id"] == "c/1"


@pytest.mark.sockets
@pytest.mark.parametrize("body", [b"{}", b"<html>", b'[{"id":"m"}]'])
async def test_an_answer_of_another_shape_is_malformed(gateway: Gateway, body: bytes) -> None:
    gateway.others = {"messages": (200, body), "stop": (200, body)}

    async with Client(gateway.url, "s", None) as client:
        with pytest.raises(Malformed):
            await client.messages()
        with pytest.raises(Malformed):
            await client.stop()


def test_a_history_of_all_kinds_of_parts() -> None:
    parts = [
        {"type": "step-start"},
        {"type": "text", "text": "Hi", "state": "done"},
        {"type": "reasoning", "text": "hm", "state": "done"},
        {"type": "file", "mediaType": "a/b", "url": "u", "filename": "f"},
        {"type": "source-url", "sourceId": "s", "url": "u"},
        {
            "type": "tool-t",
            "toolCallId": "c1",
            "state": "approval-requested",
            "input": {},
            "approval": {"id": "a1"},
        },
        {"type": "data-question", "id": "q1", "data": {"text": "Why?", "state": "open"}},
        {"type": "data-chart", "data": 1},
    ]
    history = [{"id": "m1", "role": "assistant", "parts": parts}]

    tool = message.Tool(name="t", tool_call_id="c1", state="approval-requested", input={})
    tool.approval_id = "a1"
    assert read(json.dumps(history).encode()) == [
        UIMessage(
            "m1",
            "assistant",
            [
                message.StepStart(),
                message.Text("Hi"),
                message.Reasoning("hm"),
                message.File("u", "a/b", "f"),
                message.Source("s", "u"),
                tool,
                Question("q1", "Why?"),
                Data("chart", 1),
            ],
        )
    ]
    with pytest.raises(Malformed, match="of a type that nobody knows: 'hm'"):
        read(b'[{"id":"m","role":"user","parts":[{"type":"hm"}]}]')
