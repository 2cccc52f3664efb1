"""Stopping on the `v2` wire: which turn an abort names, and what says how it ended."""

import json

import pytest

from support import v2_frames as f
from support.v2_operations import (
    BUSY,
    finish,
    hello,
    play,
    play_on,
    stopping,
    turn,
)
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import StopRequest
from turnwire.dialects.v2 import V2


@pytest.mark.parametrize(
    ("init", "named", "channel"),
    [
        (hello(turn(), **BUSY), None, "default"),
        (hello(turn(), **BUSY), f.OURS, "default"),
        (hello(turn(), runnerBusy=True), None, "default"),
        (hello(turn(finish(), id="t0"), turn(), runnerBusy=True), None, "default"),
        (hello(turn(channelId="C"), **BUSY), f.OURS, "C"),
    ],
    ids=[
        "what runs",
        "what runs, by its name",
        "the agent does not say what runs",
        "the last",
        "elsewhere, by its name",
    ],
)
def test_a_stop_names_the_turn_and_its_prompt(init: bytes, named: str | None, channel: str) -> None:
    operation = stopping(named)

    assert play(operation, init) == [
        {
            "type": "abort",
            "promptId": f.PROMPT,
            "channelType": "web",
            "channelId": channel,
            "turnId": f.OURS,
        }
    ]
    assert operation.result is None
    assert operation.deadline == 4
    assert play_on(operation, hello(turn(), **BUSY)) == [], "a second hello changes nothing"


@pytest.mark.parametrize(
    ("frame", "stopped", "reason"),
    [
        (f.finalize(reason="canceled"), True, "canceled"),
        (f.finalize(), False, "end_turn"),
        (f.finalize(reason="error"), False, "error"),
        (f.finalize(reason="?"), False, "end_turn"),
        (f.frame("complete", turnId=f.OURS), False, "end_turn"),
        (f.frame("error", turnId=f.OURS, error="no"), False, "error"),
    ],
)
def test_a_stop_ends_with_the_turn(frame: bytes, stopped: bool, reason: str) -> None:  # noqa: FBT001
    operation = stopping()
    open_turns = [
        f.finalize("turn-9"),
        f.frame("complete"),
        f.frame("complete", turnId="turn-9"),
        f.frame("error", error="no"),
        f.frame("error", turnId="turn-9"),
        f.frame("status"),
        b"nonsense",
    ]
    play(operation, hello(turn(), **BUSY), *open_turns)
    assert operation.result is None

    play_on(operation, frame)

    assert operation.result == StopResult(stopped, f.OURS, reason)


@pytest.mark.parametrize(
    ("init", "named", "result"),
    [
        pytest.param(
            hello(), None, StopResult(stopped=False, turn_id=None, reason="idle"), id="idle"
        ),
        pytest.param(
            hello(turn(), runnerBusy=False),
            None,
            StopResult(stopped=False, turn_id=None, reason="idle"),
            id="a turn without an end, and the agent is idle",
        ),
        pytest.param(
            hello(turn(channelId="C"), **BUSY),
            None,
            StopResult(stopped=False, turn_id=None, reason="idle"),
            id="elsewhere",
        ),
        pytest.param(
            hello(turn(finish("canceled"))),
            f.OURS,
            StopResult(stopped=True, turn_id=f.OURS, reason="canceled"),
            id="stopped before",
        ),
        pytest.param(
            hello(turn({"type": "text", "text": "a"}, finish()), turn(finish(), id="t2")),
            f.OURS,
            StopResult(stopped=False, turn_id=f.OURS, reason="end_turn"),
            id="over before",
        ),
        pytest.param(
            hello(turn(), {"id": "t9", "role": "user"}),
            "t9",
            StopResult(stopped=False, turn_id="t9", reason="idle"),
            id="unknown, and nothing runs",
        ),
        pytest.param(hello(turn(), **BUSY), "t9", Rejection.OTHER_TURN, id="another runs"),
        pytest.param(hello(**BUSY), "t9", Rejection.OTHER_TURN, id="one that has no entry"),
    ],
)
def test_there_is_nothing_to_stop(
    init: bytes, named: str | None, result: StopResult | Rejection
) -> None:
    operation = stopping(named)

    assert play(operation, init) == []
    assert operation.result == result


@pytest.mark.nameless(
    "`runningTurnId` of `init` whose entry is not there, for a stop",
    "if our channel is `web`, `default`, or the stop names the turn",
    "an entry without a channel means that; the `abort` names the turn",
)
def test_a_turn_that_has_no_entry_is_stopped_by_its_name() -> None:
    operation = stopping()

    (abort,) = play(operation, hello(**BUSY))

    assert (abort["turnId"], abort["promptId"]) == (f.OURS, "")


def test_a_stop_without_a_verdict() -> None:
    operation = stopping()
    play(operation, hello(turn(), **BUSY))

    operation.tick(3.9)
    assert operation.result is None
    operation.tick(4)
    assert operation.result == StopResult(stopped=False, turn_id=f.OURS, reason="no_verdict")


def test_an_agent_that_leaves_before_the_verdict() -> None:
    asked, unasked = stopping(), stopping(f.OURS)
    play(asked, hello(turn(), **BUSY))
    play(unasked)

    asked.connection_lost()
    unasked.connection_lost()

    assert asked.result == StopResult(stopped=False, turn_id=f.OURS, reason="no_verdict")
    assert unasked.result is Rejection.SILENT


def test_a_stop_without_a_hello_needs_a_name() -> None:
    named, nameless = stopping(f.OURS), stopping()
    play(named)
    play(nameless)

    (abort,) = map(json.loads, named.tick(5))

    assert abort["turnId"] == f.OURS
    assert list(nameless.tick(5)) == []
    assert nameless.result is Rejection.UNSUPPORTED


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(b'{"type":"message.finalize"}', id="a field is missing"),
        pytest.param(b'{"type":"no.such.frame"}', id="of no known type"),
        pytest.param(b"{", id="not JSON"),
    ],
)
def test_a_frame_that_cannot_be_read_is_no_verdict(frame: bytes) -> None:
    operation = V2().stop(StopRequest(user_id="u1", turn_id="t1", init_s=5, verdict_s=5))
    operation.connection_opened(0)

    assert operation.receive_frame(frame, 1) == ()
    assert operation.result is None
    assert operation.receive_frame(b'{"type":"init","data":{"x":NaN}}', 2) == (), (
        "nearly JSON is read"
    )
    assert operation.result is not None


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (f.frame("complete", promptId=f.PROMPT), "end_turn"),
        (f.frame("error", error="no", promptId=f.PROMPT), "error"),
        (f.frame("error", error="no", turnId=f.OURS), "error"),
        (f.frame("complete", promptId="p2"), None),
        (f.frame("complete", promptId="p2", turnId="turn-2"), None),
        (f.frame("complete"), None),
        (f.frame("error", error="no"), None),
    ],
)
def test_a_stop_hears_of_its_own_turn_by_its_prompt_too(frame: bytes, reason: str | None) -> None:
    operation = stopping()

    play(operation, hello(turn(), **BUSY), frame)

    expected = None if reason is None else StopResult(False, f.OURS, reason)  # noqa: FBT003
    assert operation.result == expected
