"""What stop, answer and history share on this wire: none goes on without `init`."""

from typing import Any

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from turnwire.core.operations import Operation
from turnwire.core.rejection import Rejection
from turnwire.core.requests import AnswerRequest, HistoryRequest, QuestionReply, StopRequest
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.commands import CONNECT

ASKED: dict[str, Any] = {"user_id": f.ME, "init_s": 2, "verdict_s": 5}
BEFORE_INIT = (f.user(), f.begin(), f.done("x"), f.answered("V"), f.drained("V"))


def stopping() -> Operation[Any]:
    return SessionAgent().stop(StopRequest(**ASKED, turn_id=f.TURN))


def answering() -> Operation[Any]:
    given = Raw(b'"yes"')
    return SessionAgent().answer(AnswerRequest(**ASKED, reply=QuestionReply("q1", given)))


def recalling() -> Operation[Any]:
    return SessionAgent().read_history(HistoryRequest(**ASKED, limit=9))


@pytest.mark.parametrize("make", [stopping, answering, recalling])
def test_every_operation_waits_for_init_and_for_nothing_before_it(make: Any) -> None:
    operation = make()
    assert operation.connect_request() == CONNECT
    assert list(operation.connection_opened(10)) == []
    assert operation.deadline == 12

    for frame in BEFORE_INIT:
        assert list(operation.receive_frame(frame, 11)) == []
    assert list(operation.tick(11.9)) == []
    assert operation.result is None

    assert list(operation.tick(12)) == []
    assert operation.result is Rejection.SILENT


@pytest.mark.parametrize("make", [stopping, answering])
def test_a_second_init_does_not_begin_it_again(make: Any) -> None:
    operation = make()
    operation.connection_opened(0)
    operation.receive_frame(f.init("V", runnerBusy=True), 1)
    deadline = operation.deadline

    assert list(operation.receive_frame(f.init("V"), 1)) == []
    assert (operation.result, operation.deadline) == (None, deadline)


@pytest.mark.parametrize("make", [stopping, answering, recalling])
def test_what_cannot_be_read_is_counted_and_is_no_answer(make: Any) -> None:
    operation = make()
    operation.connection_opened(0)

    assert list(operation.receive_frame(b"nonsense", 1)) == []
    assert (operation.result, operation.frame_stats.malformed) == (None, 1)
