"""Lost attempts, steps, pieces of inputs in updates and finish reasons on the `v2` wire."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from support import v2_frames as f
from support.continued import Json, approval, called, chunks, continued, init, question, text
from support.v2_protocol import conversation
from turnwire.core.agent import Decoded
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import (
    Event,
    PartsRetracted,
    Phase,
    Reason,
    StepStarted,
    ToolInputDelta,
    ToolUpdate,
    TurnFinished,
)
from turnwire.core.operations import History
from turnwire.core.requests import HistoryRequest
from turnwire.core.ui_stream.messages import ui_messages
from turnwire.dialects.v2 import V2

PIECE = ToolInputDelta("c1", "bash", '{"a')


def update(phase: Phase, **fields: Any) -> ToolUpdate:
    return ToolUpdate(call_id="c1", tool_name="bash", phase=phase, **fields)


@pytest.mark.parametrize(
    ("frame", "events"),
    [
        (f.step(), [StepStarted()]),
        (f.retract(0), [PartsRetracted(0)]),
        (f.retract(2**53), [PartsRetracted(2**53)]),
        (f.tool("pending", argsDelta='{"a'), [update(Phase.PENDING), PIECE]),
        (f.tool("running", argsDelta='{"a'), [PIECE, update(Phase.RUNNING)]),
        (f.tool("error", argsDelta='{"a', error="no"), [PIECE, update(Phase.ERROR, error="no")]),
        (f.tool("pending", argsDelta=None), [update(Phase.PENDING)]),
        (
            f.tool("pending", argsDelta="\ud83d"),
            [update(Phase.PENDING), ToolInputDelta("c1", "bash", "\ud83d")],
        ),
        (f.tool("pending", error="\ud83d"), [update(Phase.PENDING, error="\ufffd")]),
    ],
)
def test_a_frame_of_our_turn_is_these_events(frame: bytes, events: Sequence[Event]) -> None:
    received = conversation(f.begin()).receive_frame(frame, 0)

    assert isinstance(received, Decoded)
    assert received.events == events


@pytest.mark.parametrize("frame", [f.step("turn-9"), f.retract(0, "turn-9")])
def test_one_of_another_turn_is_foreign_and_shows_that_it_is_open(frame: bytes) -> None:
    ours, waiting = conversation(f.begin()), conversation()

    assert ours.receive_frame(frame, 0) is None
    waiting.receive_frame(frame, 0)

    assert ours.frame_stats.foreign == 1
    assert waiting.queued


@pytest.mark.parametrize(
    "frame",
    [
        *(f.retract(since) for since in (-1, 1.5, "0", None, 2**53 + 1)),
        f.frame("message.part.retract", turnId=f.OURS),
        f.frame("message.part.step"),
        f.tool("pending", argsDelta=7),
    ],
)
def test_one_with_wrong_fields_is_counted(frame: bytes) -> None:
    made = conversation(f.begin())

    assert made.receive_frame(frame, 0) is None
    assert made.frame_stats.malformed == 1


@pytest.mark.parametrize(
    ("told", "cut_short", "finish_reason"),
    [
        ("length", "length", "length"),
        ("max-steps", "max-steps", "max-steps"),
        ("stop", None, "stop"),
        *((told, None, None) for told in (None, "", 7, {"a": 1}, "x" * 10_000)),
    ],
)
def test_why_the_model_stopped(told: Any, cut_short: str | None, finish_reason: str | None) -> None:
    received = conversation(f.begin()).receive_frame(f.finalize(finishReason=told), 0)

    assert isinstance(received, Decoded)
    assert received.events == [
        TurnFinished(reason=Reason.END_TURN, cut_short=cut_short, finish_reason=finish_reason)
    ]


@pytest.mark.parametrize("types", [(f.part, f.chunk), (f.chunk, f.part)])
def test_the_next_attempt_may_repeat_the_text_of_the_lost_one_in_the_other_type(
    types: Sequence[Any],
) -> None:
    first, second = types
    made = conversation(f.begin(), first("The cat"))

    made.receive_frame(f.retract(0), 0)

    assert made.receive_frame(second("The cat"), 0) == "The cat"
    assert made.receive_frame(first("The cat"), 0) == ""


STEP: Json = {"type": "step"}
FINISH: Json = {"type": "finish", "reason": "end_turn"}


def lost(since: Any) -> Json:
    return {"type": "retract", "since": since}


def shown(*parts: Json) -> list[Json]:
    """The parts of the turn's message in the history."""
    entry = {"id": "turn-1", "role": "assistant", "parts": [*parts, FINISH]}
    operation = V2().read_history(HistoryRequest(user_id="u1", limit=9, init_s=5, verdict_s=5))
    operation.connection_opened(0)
    operation.receive_frame(f.frame("init", session={"messages": [entry]}, data={}), 0)
    history = operation.result
    assert isinstance(history, History)
    ((message,),) = [json.loads(ui_messages(history))]
    return list(message["parts"])


LOOKED = [text("Let me look. "), called(status="completed", result=1)]


@pytest.mark.parametrize(
    ("told", "stands"),
    [
        ([text("lost"), lost(0), text("good")], [text("good")]),
        ([STEP, text("lost"), lost(0), STEP, text("good")], [text("good")]),
        (
            [STEP, *LOOKED, STEP, text("lost"), called("c2"), lost(2), STEP, text("good")],
            [STEP, *LOOKED, STEP, text("good")],
        ),
        (
            [text("a"), text("b"), lost(1), question("q"), lost(1), text("c"), lost(0)],
            [],
        ),
        (
            [text("a"), 7, {"type": 7}, text("lost"), lost(1), text("good")],
            [text("a"), text("good")],
        ),
        ([text("a"), lost(1), lost(9), lost(-1), lost("0"), lost(None)], [text("a")]),
        ([text("a"), {"type": "retract"}, {"type": "new"}, lost(1)], [text("a")]),
    ],
)
def test_the_history_has_the_attempt_that_stands(told: list[Json], stands: list[Json]) -> None:
    assert shown(*told) == shown(*stands)


def test_a_text_about_it_is_not_taken_for_the_mark() -> None:
    call = called(args={"retract": 1}, status="completed", result="retract")

    assert [part["type"] for part in shown(call, text("b"))][1] == "tool-bash"


def test_a_step_in_init_is_one_in_the_history() -> None:
    assert [part["type"] for part in shown(text("a"), STEP, text("b"))] == [
        *("step-start", "text"),
        *("step-start", "text"),
    ]


def test_a_client_that_goes_on_has_the_text_that_was_taken_back_and_gets_none_twice() -> None:
    before = [STEP, text("lost"), lost(0), STEP, text("good"), called(), approval()]
    known = ClientCopy(message_id="m1", text_chars=8, text_blocks=2)
    turn = continued(known=known)

    act = turn.frames([init(*before, text("since"))], 1)

    assert [c["delta"] for c in chunks(act) if c["type"] == "text-delta"] == ["since"]


def test_it_may_have_a_part_of_what_came_then() -> None:
    before = [STEP, text("lost"), lost(0), STEP, text("good"), called(), approval()]
    known = ClientCopy(message_id="m1", text_chars=10, text_blocks=3)
    turn = continued(known=known)

    act = turn.frames([init(*before, text("since"))], 1)

    assert [c["delta"] for c in chunks(act) if c["type"] == "text-delta"] == ["nce"]


@pytest.mark.parametrize("part", [{"type": "retract", "since": "x"}, {"type": "retract"}])
def test_a_mark_without_a_position_takes_nothing_back(part: Json) -> None:
    turn = continued(known=ClientCopy(message_id="m1", text_chars=4, text_blocks=1))

    act = turn.frames([init(text("good"), part, called(), approval(), text("since"))], 1)

    assert [c["delta"] for c in chunks(act) if c["type"] == "text-delta"] == ["since"]
