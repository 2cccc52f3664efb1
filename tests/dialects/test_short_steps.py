"""What takes a long hydration apart does so in short steps, whoever asked for it and for whatever.

How short is counted in calls of functions, of Python's and of C's. A step of as many takes about
as many tenths of microseconds.
"""

import gc
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from msgspec import Raw

from turnwire.core.bounds import PARTS_MAX
from turnwire.core.operations import History, OperationName
from turnwire.core.requests import (
    AnswerRequest,
    HistoryRequest,
    PromptRequest,
    QuestionReply,
    ResumeRequest,
    StopRequest,
)
from turnwire.core.session_group import Member
from turnwire.core.turn.inputs import Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.messages import ui_messages_in_steps
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

CALLS_MAX: Final = 40 * PARTS_MAX
"""Of a step: what is done for a message that has as many parts as it may."""

PARTS: Final = 15_000
"""Of a hydration: a tenth of what it may have."""

HYDRATED: Final = [name for name, each in DIALECTS.items() if OperationName.STOP in each.operations]
"""The wires whose connections begin with all turns of the session."""

Part = dict[str, Any]
ERRAND: Final[dict[str, Any]] = {"user_id": "u1", "init_s": 5.0, "verdict_s": 5.0}


def failed(number: int) -> Part:
    call = {"type": "tool-call", "callId": f"c{number}", "toolName": "x", "status": "error"}
    return {**call, "error": {"message": "it was \u00e9"}}


def asked(number: int) -> Part:
    return {"type": "question", "questionId": f"q{number}", "question": "so?"}


def unreadable(number: int) -> Part:
    return {"type": number}


def hydration(part: Callable[[int], Part], each: int, *, busy: bool) -> bytes:
    """An `init` of turns with so many parts each, which are over unless the agent is busy."""
    parts = [part(number) for number in range(each - 1)]
    parts.append({"type": "text", "text": "a"} if busy else {"type": "finish", "reason": "stop"})
    turns = [
        {"id": f"t{number}", "promptId": f"p{number}", "role": "assistant", "parts": parts}
        for number in range(PARTS // each)
    ]
    session = {"messages": turns}
    return json.dumps({"type": "init", "data": {"runnerBusy": busy}, "session": session}).encode()


def turns(dialect: str) -> Iterator[Turn]:
    wire = DIALECTS[dialect]
    ours: dict[str, Any] = {"user_id": "u1"}
    look = ResumeRequest(init_s=5.0, **ours)
    answer = ResumeRequest(init_s=5.0, replies=(QuestionReply("q5", Raw(b"1"), None),), **ours)
    for conversation in (
        wire.prompt(PromptRequest(text="hi", prompt_id="p", **ours), Member()),
        wire.resume(look, Member()),
        wire.resume(answer, Member()),
    ):
        yield Turn(conversation, Limits(), UIMessageStream())


def operations(dialect: str) -> Iterator[Any]:
    wire = DIALECTS[dialect]
    yield wire.stop(StopRequest(**ERRAND))
    yield wire.stop(StopRequest(turn_id="t1", **ERRAND))
    yield wire.answer(AnswerRequest(reply=QuestionReply("q5", Raw(b"1")), **ERRAND))
    yield wire.read_history(HistoryRequest(limit=500, **ERRAND))
    yield wire.read_history(HistoryRequest(limit=500, before="nobody's", **ERRAND))


def steps_of_a_turn(turn: Turn, frame: bytes) -> Iterator[None]:
    turn.handle(Opened(), 0)
    yield from turn.prepare_frame(frame)
    for _ in turn.long_frame(frame, 1):
        yield


def steps_of_an_operation(operation: Any, frame: bytes) -> Iterator[None]:
    operation.connection_opened(0)
    yield from operation.prepare_frame(frame)
    operation.receive_frame(frame, 1)
    yield
    if isinstance(operation.result, History):
        yield from ui_messages_in_steps(operation.result, finish=False)


def most_calls(steps: Iterator[None]) -> int:
    """Of functions, in any of these steps."""
    calls = most = 0

    def count(_frame: object, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        for _ in steps:
            most, calls = max(most, calls), 0
    finally:
        sys.setprofile(before)
    return max(most, calls)


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("each", [100, PARTS_MAX - 1])
@pytest.mark.parametrize("part", [failed, asked, unreadable])
@pytest.mark.parametrize("dialect", HYDRATED)
def test_no_step_is_long(
    dialect: str, part: Callable[[int], Part], each: int, *, busy: bool
) -> None:
    frame = hydration(part, each, busy=busy)
    gc.collect()

    of_turns = [most_calls(steps_of_a_turn(turn, frame)) for turn in turns(dialect)]
    of_operations = [
        most_calls(steps_of_an_operation(operation, frame)) for operation in operations(dialect)
    ]

    assert max(of_turns + of_operations) < CALLS_MAX
