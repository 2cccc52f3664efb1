"""What one process asks of another: it comes as it was sent, and so does the reply."""

import msgspec
import pytest
from msgspec import Raw

from relay.turn_log.listening import Control
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.relay.turn_log.redis import messages

STOPPED = StopResult(stopped=True, turn_id="t1", reason="canceled")


@pytest.mark.parametrize("turn_id", ["t1", "", None])
@pytest.mark.parametrize(
    "result",
    [STOPPED, StopResult(stopped=False, turn_id=None, reason=""), *Rejection],
    ids=lambda result: getattr(result, "name", "") or str(result.stopped),
)
def test_a_stop_and_what_came_of_it(turn_id: str | None, result: StopResult | Rejection) -> None:
    control = Control(result)

    reply = messages.carry_out(messages.stop("process-1", turn_id), control)

    assert reply is not None
    assert reply[0] == "process-1"
    assert messages.read_result(reply[1]) == result
    assert control.stopped == [turn_id]


class Willing(Control):
    """A stream that takes every answer."""

    def answer(self, replies: object, user_id: str) -> None:
        super().answer(replies, user_id)  # type: ignore[arg-type]


@pytest.mark.parametrize("control", [Control(), Willing()], ids=["refuses", "takes"])
def test_an_answer_and_what_came_of_it(control: Control) -> None:
    replies = [
        QuestionReply("q1", Raw(b'{"x": [1.50, "\xc3\xa4"]}'), b"\x00\xff"),
        QuestionReply("q2", Raw(b"null"), None),
    ]

    reply = messages.carry_out(messages.answer("process-1", "ann", replies), control)

    assert reply is not None
    assert reply[0] == "process-1"
    expected = None if isinstance(control, Willing) else Rejection.CLOSED
    assert messages.read_result(reply[1]) is expected
    ((got, user_id),) = control.answers
    assert user_id == "ann"
    assert [(each.question_id, bytes(each.answer), each.subject) for each in got] == [
        ("q1", b'{"x": [1.50, "\xc3\xa4"]}', b"\x00\xff"),
        ("q2", b"null", None),
    ]


def test_a_rejection_of_another_release() -> None:
    packed = msgspec.msgpack.encode({"type": "result", "rejection": "NEW_AND_UNKNOWN"})

    assert messages.read_result(packed) is Rejection.SILENT


def test_a_field_of_another_release_is_no_obstacle() -> None:
    packed = msgspec.msgpack.encode({"type": "stop", "process": "p", "turn_id": None, "more": 1})

    assert messages.carry_out(packed, Control(STOPPED)) is not None


@pytest.mark.parametrize("is_ending", [False, True])
def test_whether_a_turn_is_being_ended(*, is_ending: bool) -> None:
    control = Control()
    control.is_ending = is_ending

    reply = messages.carry_out(messages.ending("process-1"), control)

    assert reply is not None
    assert reply[0] == "process-1"
    assert messages.read_result(reply[1]) is (None if is_ending else Rejection.OTHER_TURN)
