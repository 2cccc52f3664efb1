"""Which questions answers are to: by a turn log, or by the client's message alone."""

from typing import Any

import pytest
from msgspec import Raw

from turnwire.core.answered_questions import find_answered
from turnwire.core.approvals import subject
from turnwire.core.body.conversation import Call, Conversation, Unresolved
from turnwire.core.events import (
    Approval,
    Phase,
    Question,
    QuestionClosed,
    ReplayFinished,
    ReplayStarted,
    ToolUpdate,
    TurnStarted,
)
from turnwire.core.rejection import RejectedError, Rejection
from turnwire.core.requests import QuestionReply, ResumeRequest

CALL = Call("c1", "delete", Raw(b'{"path":"a"}'))
APPROVAL = Approval("c1", "delete", Raw(b'{"path":"a"}'))
YES = Raw(b"true")
SIGNED = QuestionReply("q1", YES, subject("t1", APPROVAL))
ASKED = Question("q1", Raw(b"{}"), APPROVAL)


def request(**more: Any) -> ResumeRequest:
    given: dict[str, Any] = {
        "user_id": "u1",
        "init_s": 5,
        "message_id": "t1",
        "conversation": Conversation([], {}, (CALL,)),
        "replies": (SIGNED,),
    }
    return ResumeRequest(**{**given, **more})


def test_without_a_log_the_clients_message_has_the_call_that_waits() -> None:
    answered = find_answered(request())

    assert answered.turn_id == "t1"
    assert [each.question_id for each in answered.questions] == ["q1"]
    assert answered.pending == (CALL,)
    assert list(answered.replay) == [
        ReplayStarted("t1"),
        ToolUpdate(call_id="c1", tool_name="delete", phase=Phase.RUNNING, args=CALL.input),
        ReplayFinished(),
    ]


def test_so_it_has_the_calls_beside_that_had_no_outcome_yet() -> None:
    beside = Unresolved(Call("c2", "add", Raw(b"[1]")), "c2")
    answered = find_answered(request(conversation=Conversation([], {}, (CALL,), (beside,))))

    assert answered.replay[2] == ToolUpdate(
        call_id="c2",
        tool_name="add",
        phase=Phase.ERROR,
        args=Raw(b"[1]"),
        error="No result",
        preliminary=True,
    )


def test_of_the_calls_with_one_id_the_last_is_the_one_that_has_no_outcome_yet() -> None:
    one, other = Call("c2", "add", Raw(b"[1]")), Call("c2", "add", Raw(b"[2]"))
    beside = [Unresolved(other, "c2#2"), Unresolved(other, "c2#2:2")]
    asked = Conversation([], {}, (CALL,), beside, [one, one])
    phases = [
        (each.phase, bytes(each.args or b""), each.preliminary)
        for each in find_answered(request(conversation=asked)).replay[2:-1]
        if isinstance(each, ToolUpdate)
    ]

    assert phases == [
        (Phase.COMPLETED, b"[1]", False),
        (Phase.PENDING, b"[1]", False),
        (Phase.COMPLETED, b"[1]", False),
        (Phase.PENDING, b"[2]", False),
        *[(Phase.ERROR, b"[2]", True)] * 2,
    ]


def test_a_log_has_the_question_and_repeats_the_turn_itself() -> None:
    answered = find_answered(request(waiting=[TurnStarted("t7"), ASKED], conversation=None))

    assert (answered.turn_id, list(answered.questions)) == ("t7", [ASKED])
    assert (answered.pending, list(answered.replay)) == ((), [])


def test_no_answers_are_to_no_questions() -> None:
    answered = find_answered(request(replies=(), message_id=None, conversation=None))

    assert (answered.turn_id, list(answered.questions), list(answered.replay)) == ("", [], [])


@pytest.mark.parametrize(
    "more",
    [
        {"message_id": "t2"},
        {"replies": (QuestionReply("q1", YES),)},
        {"replies": (SIGNED, QuestionReply("q2", YES, subject("t1", Approval("c2", "x"))))},
        {"conversation": None},
        {"conversation": Conversation([], {}, (Call("c1", "delete", Raw(b"{}")),))},
        {"waiting": [TurnStarted("t1")]},
        {"waiting": [TurnStarted("t1"), ASKED, QuestionClosed("q1")]},
        {
            "waiting": [TurnStarted("t1"), ASKED],
            "conversation": Conversation([], {}, (Call("c1", "delete", Raw(b"{}")),)),
        },
        {"waiting": [TurnStarted("t1"), Question("q1", Raw(b"{}"))]},
    ],
)
def test_an_answer_to_nothing_that_is_open_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(RejectedError):
        find_answered(request(**more))


def test_an_approval_is_answered_by_no_more_than_a_yes_or_a_no() -> None:
    edited = QuestionReply("q1", Raw(b'{"approved":true,"editedArgs":{}}'), SIGNED.subject)

    with pytest.raises(RejectedError) as refused:
        find_answered(request(replies=(edited,), session_id="s1"))

    assert refused.value.rejection is Rejection.NO_VERDICT
    assert find_answered(request(replies=(edited,))).questions, "a replay takes a redacted answer"
