"""The strict client refuses streams that break a promise; tests/conformance has released ones."""

import json
from collections.abc import Iterable
from typing import Any, Final

import pytest

from turnwire.testing.client_model import BrokenPromiseError, read

Chunk = dict[str, Any]
START: Final[Chunk] = {"type": "start", "messageId": "m1"}
STEP: Final[Chunk] = {"type": "start-step"}
STEP_END: Final[Chunk] = {"type": "finish-step"}
FINISH: Final[Chunk] = {"type": "finish"}
OPEN: Final[Chunk] = {"type": "text-start", "id": "t1"}
DELTA: Final[Chunk] = {"type": "text-delta", "id": "t1", "delta": "a"}
CLOSE: Final[Chunk] = {"type": "text-end", "id": "t1"}
_CALL: Final[Chunk] = {"toolCallId": "c1", "providerExecuted": True}
CALL: Final[Chunk] = {"type": "tool-input-available", "toolName": "x", "input": {}} | _CALL
OUTPUT: Final[Chunk] = {"type": "tool-output-available", "output": 1} | _CALL
QUESTION: Final[Chunk] = {"type": "data-question", "id": "q1", "data": {"state": "open"}}


def stream(chunks: Iterable[Chunk], end: bytes = b"data: [DONE]\n\n") -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in chunks) + end


def step(*chunks: Chunk) -> bytes:
    """A stream of one step with these chunks."""
    return stream([START, STEP, *chunks, STEP_END, FINISH])


def test_a_whole_stream_is_read() -> None:
    client = read(step(OPEN, DELTA, DELTA, CLOSE, CALL, OUTPUT))

    assert client.text == client.streamed_text == "aa"
    assert [part["type"] for part in client.parts] == ["step-start", "text", "tool-x"]


@pytest.mark.parametrize(
    ("promise", "body"),
    [
        ("P1", stream([STEP, STEP_END, FINISH])),
        ("P1", stream([START, FINISH, START])),
        ("P1", stream([START, FINISH], b"data: [DONE]\n\ndata: [DONE]\n\n")),
        ("P2", step(DELTA)),
        ("P2", step(OPEN, OPEN)),
        ("P2", step(OPEN, CLOSE, DELTA)),
        ("P2", step(OPEN, CLOSE, CLOSE)),
        ("P2", step(OPEN)),
        ("P3", step(OUTPUT)),
        ("P3", step(CALL, OUTPUT, OUTPUT)),
        ("P3", step(CALL, CALL, OUTPUT)),
        ("P5", step(CALL)),
        ("P6", stream([START], b"")),
        ("P6", stream([START, FINISH], b"")),
        ("P6", stream([START])),
        ("questions", step(QUESTION)),
        ("fields", step({"type": "text-start"})),
        ("fields", step(OPEN | {"extra": 1}, CLOSE)),
        ("types", step({"type": "brand-new"})),
        ("lines", stream([START, FINISH]).replace(b"m1", "m\u2028".encode())),
        ("records", stream([START, FINISH])[:-1]),
    ],
)
def test_a_broken_promise_is_found(promise: str, body: bytes) -> None:
    with pytest.raises(BrokenPromiseError):
        assert read(body) is None, promise


REQUEST: Final[Chunk] = {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"}


def test_a_call_may_wait_for_an_approval_of_a_client_that_asked_for_native_ones() -> None:
    client = read(step(CALL, REQUEST), native=True)

    assert client.approvals == {"a1": "c1"}
    assert client.parts[-1]["state"] == "approval-requested"
    with pytest.raises(BrokenPromiseError, match="unknown type"):
        read(step(CALL, REQUEST))


@pytest.mark.parametrize("chunks", [(REQUEST,), (CALL, OUTPUT, REQUEST), (CALL, REQUEST, REQUEST)])
def test_a_request_for_an_approval_is_about_a_call_that_waits(chunks: tuple[Chunk, ...]) -> None:
    with pytest.raises(BrokenPromiseError, match="approval"):
        read(step(*chunks), native=True)


NO_RESULT: Final[Chunk] = {"type": "tool-output-error", "errorText": "No result"} | _CALL


def test_an_outcome_may_replace_the_lack_of_one() -> None:
    (_, card) = read(step(CALL, NO_RESULT, OUTPUT)).parts

    assert (card["output"], "errorText" in card) == (1, False)
    for more in (OUTPUT, NO_RESULT):
        with pytest.raises(BrokenPromiseError, match="after output"):
            read(step(CALL, NO_RESULT, OUTPUT, more))
    with pytest.raises(BrokenPromiseError, match="after output"):
        read(step(CALL, NO_RESULT | {"errorText": "no"}, OUTPUT))


RESET: Final[Chunk] = {"type": "reset-step"}


def test_a_step_is_reset_for_a_client_that_knows_it() -> None:
    again = [each | {"toolCallId": "c2"} for each in (CALL, OUTPUT)]
    client = read(step(OPEN, DELTA, CLOSE, CALL, RESET, *again), native=True, resets=True)

    assert [part.get("toolCallId", part["type"]) for part in client.parts] == ["step-start", "c2"]
    with pytest.raises(BrokenPromiseError, match="unknown type"):
        read(step(RESET), native=True)


@pytest.mark.parametrize(
    "chunks",
    [
        (OPEN, DELTA, RESET, CLOSE),
        (CALL, RESET, OUTPUT),
        (CALL, REQUEST, RESET),
        ({"type": "data-state", "data": 1, "id": "d"}, RESET),
    ],
    ids=["an open block", "an outcome", "a request", "data with an id"],
)
def test_more_of_what_was_reset_is_found(chunks: tuple[Chunk, ...]) -> None:
    with pytest.raises(BrokenPromiseError):
        read(step(*chunks), native=True, resets=True)


@pytest.mark.parametrize("reason", ["stop", "length", "other"])
def test_a_client_that_asked_for_a_profile_takes_a_finish_reason(reason: str) -> None:
    finish = FINISH | {"finishReason": reason}

    assert read(stream([START, finish]), native=True).at == "done"
    with pytest.raises(BrokenPromiseError, match="finishReason"):
        read(stream([START, finish]))
    with pytest.raises(BrokenPromiseError, match="finishReason"):
        read(stream([START, FINISH | {"finishReason": "max-steps"}]), native=True)


def test_a_message_goes_on_in_the_next_response() -> None:
    first = read(step(OPEN, DELTA, CLOSE, CALL, REQUEST), native=True)

    client = first.next_response()
    client.read(b"".join(record(each) for each in (START, OUTPUT, STEP, OPEN, DELTA, CLOSE)))

    assert client.streamed_text == "aa"
    assert [part["type"] for part in client.parts] == [
        *("step-start", "text", "tool-x", "step-start", "text"),
    ]
    assert client.parts[2]["state"] == "output-available"
    assert first.parts[2]["state"] == "approval-requested"


def test_what_comes_before_the_next_step_is_of_the_one_whose_call_waits() -> None:
    client = read(step(CALL, REQUEST), native=True).next_response()

    for chunk in (START, OPEN, DELTA, CLOSE, OUTPUT, FINISH):
        client.read(record(chunk))

    assert [part["type"] for part in client.parts] == ["step-start", "tool-x", "text"]
    assert client.at == "finished"


def test_a_step_in_which_no_call_waits_does_not_go_on() -> None:
    client = read(step(CALL, OUTPUT), native=True).next_response()

    with pytest.raises(BrokenPromiseError, match="between"):
        client.read(b"".join(map(record, (START, OUTPUT))))


def record(chunk: Chunk) -> bytes:
    return b"data: %s\n\n" % json.dumps(chunk).encode()
