"""Answering on the `session-agent` wire: questions of three revisions, and approvals (page 4.4)."""

from typing import Any

import pytest

from support import session_agent_frames as f
from support.session_agent_answer import answering, receive_frame
from support.session_agent_resumed import init_r, prompt, turn
from turnwire.core.agent import NEVER
from turnwire.core.approvals import subjects
from turnwire.core.operations import Answered
from turnwire.core.rejection import Rejection
from turnwire.core.terms import Terms
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.session_agent import frames, questions
from turnwire.dialects.session_agent.answer import OPEN_QUESTIONS_S, AnswerOperation

LATER = ("A", "V")
ACTIONS = [{"id": "allow_once"}, {"id": "allow_always"}, {"id": "cancel"}]


def late(made: AnswerOperation) -> None:
    assert made.tick(made.deadline - 0.1) == ()
    assert made.tick(made.deadline) == ()


def approval(actions: Any = ACTIONS, **context: Any) -> bytes:
    prompt = {"id": "inv1", "type": "approval", "title": "May I?", "actions": actions}
    return f.frame("interactive_prompt", prompt={**prompt, "context": {**f.CHANNEL, **context}})


def resolved(**resolution: Any) -> bytes:
    told = {"resolvedBy": "owner", **resolution}
    return f.frame("interactive_prompt_resolved", promptId="inv1", resolution=told)


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_is_answered(revision: str) -> None:
    made = answering()

    sent = receive_frame(made, f.init(revision), f.asked(revision, "q0"), f.asked(revision))

    assert sent == [{"type": "answer", "questionId": "q1", "answer": "yes"}]
    receive_frame(made, f.answered(revision, "q0"), f.expired(revision, "q0"), f.answered(revision))
    assert made.result == Answered()
    assert made.deadline == NEVER


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (True, True),
        (False, False),
        ("", ""),
        (5, "5"),
        (["a", "b"], '["a", "b"]'),
        ({"a": 1}, '{"a": 1}'),
        ("\ud800", "\ufffd"),
    ],
)
def test_what_a_question_takes_is_a_text_or_a_boolean(
    revision: str, answer: Any, told: Any
) -> None:
    made = answering(answer)

    (sent,) = receive_frame(made, f.init(revision), f.asked(revision))

    assert sent["answer"] == told
    receive_frame(made, f.answered(revision, answer=told))
    assert made.result == Answered()


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_somebody_else_was_faster(revision: str) -> None:
    made = answering()

    receive_frame(made, f.init(revision), f.asked(revision), f.answered(revision, answer="no"))

    assert made.result is Rejection.CLOSED


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("asked", [True, False])
def test_a_question_that_expires_is_closed(revision: str, *, asked: bool) -> None:
    made = answering()

    receive_frame(
        made, f.init(revision), *([f.asked(revision)] if asked else []), f.expired(revision)
    )

    assert made.result is Rejection.CLOSED


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_that_is_answered_before_it_is_told_is_closed(revision: str) -> None:
    made = answering()

    receive_frame(made, f.init(revision), f.answered(revision))

    assert made.result is Rejection.CLOSED


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_question_that_is_not_told_is_not_known(revision: str) -> None:
    """Also one that was answered before: the agent forgets it."""
    made = answering()

    assert receive_frame(made, f.init(revision), f.asked(revision, "q0")) == []
    assert made.deadline == OPEN_QUESTIONS_S
    late(made)
    assert made.result is Rejection.UNKNOWN


def test_an_answer_that_is_told_without_its_value_is_ours() -> None:
    made = answering()

    receive_frame(made, f.init("R"), f.asked("R"), f.status(questionAnswered="q1"))

    assert made.result == Answered()


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_no_word_about_the_answer(revision: str) -> None:
    made = answering()
    receive_frame(made, f.init(revision), f.asked(revision), f.asked(revision))

    late(made)

    assert made.result is Rejection.SILENT


def test_no_init() -> None:
    made = answering()

    assert receive_frame(made, f.asked("R")) == []
    late(made)
    assert made.result is Rejection.SILENT


def test_an_agent_that_leaves() -> None:
    made = answering()

    made.connection_lost()

    assert made.result is Rejection.SILENT


# Approvals.


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (True, "allow_once"),
        ("approve", "allow_once"),
        ("allow_once", "allow_once"),
        ("allow_always", "allow_always"),
        ({"approved": True}, "allow_once"),
    ],
)
def test_an_approval_is_approved(revision: str, answer: Any, action: str) -> None:
    made = answering(answer, "inv1")

    sent = receive_frame(made, f.init(revision), approval(invocationId="inv7"))

    assert sent == [{"type": "approve-action", "invocationId": "inv7", "actionId": action}]
    receive_frame(made, resolved(actionId=action))
    assert made.result == Answered()


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (False, {}),
        ("deny", {}),
        ("cancel", {}),
        ({"approved": False, "reason": "Too dear"}, {"reason": "Too dear"}),
    ],
)
def test_an_approval_is_denied(revision: str, answer: Any, reason: dict[str, str]) -> None:
    made = answering(answer, "inv1")

    (sent,) = receive_frame(made, f.init(revision), approval())

    assert sent == {"type": "deny-action", "invocationId": "inv1", "actionId": "cancel", **reason}
    receive_frame(made, resolved(actionId="cancel"))
    assert made.result == Answered()


@pytest.mark.parametrize("answer", ["perhaps", 5, {"approved": "yes"}, {}])
def test_an_approval_takes_no_other_answer(answer: Any) -> None:
    made = answering(answer, "inv1")

    assert receive_frame(made, f.init("V"), approval()) == []
    assert made.result is Rejection.UNSUPPORTED


def test_an_approval_with_odd_actions_and_context_is_approved_even_so() -> None:
    made = answering("allow_always", "inv1")
    prompt = {"id": "inv1", "type": "approval", "actions": 5, "context": 5}

    assert receive_frame(made, f.init("V"), f.frame("interactive_prompt", prompt=prompt)) == []
    assert made.result is Rejection.UNSUPPORTED

    made = answering(answer=True, question_id="inv1")
    (sent,) = receive_frame(made, f.init("V"), f.frame("interactive_prompt", prompt=prompt))
    assert sent["invocationId"] == "inv1"


def test_an_approval_that_fails_is_closed() -> None:
    made = answering(answer=True, question_id="inv1")

    receive_frame(made, f.init("V"), approval(), resolved(actionId="__failed__"))

    assert made.result is Rejection.CLOSED


@pytest.mark.parametrize(
    "reply",
    [
        {"error": "Only the session owner can resolve this prompt", "promptId": "inv1"},
        {"message": "Missing questionId or answer"},
    ],
)
def test_an_approval_that_is_not_this_users_is_not_known(reply: dict[str, str]) -> None:
    made = answering(answer=True, question_id="inv1")

    receive_frame(made, f.init("V"), approval(), f.failure("of a turn"), f.frame("error", **reply))

    assert made.result is Rejection.UNKNOWN


def test_an_error_before_the_answer_is_no_verdict() -> None:
    made = answering()

    assert (
        receive_frame(made, f.init("V"), f.frame("error", message="Invalid JSON"), f.chunk("a"))
        == []
    )
    assert made.result is None


SIGNED = Terms(signed=True)


def signed(frame: bytes) -> bytes:
    """What the id of an approval is signed for that is told by this frame."""
    heard = frames.decoder.read(frame, FrameStats())
    assert isinstance(heard, frames.InteractivePrompt)
    (found,) = subjects(questions.prompt_event(heard), ())
    return found


@pytest.mark.parametrize("revision", LATER)
def test_where_approvals_are_signed_one_takes_no_answer_that_is_not(revision: str) -> None:
    made = answering(answer=True, question_id="inv1", terms=SIGNED)

    assert receive_frame(made, f.init(revision), approval()) == []
    assert made.result is Rejection.UNSIGNED


@pytest.mark.parametrize("revision", LATER)
def test_an_approval_takes_what_was_signed_for_it(revision: str) -> None:
    given = signed(approval(params={"n": 1}))
    made = answering(answer=True, question_id="inv1", terms=SIGNED, subject=given)

    (sent,) = receive_frame(made, f.init(revision), approval(params={"n": 1}))

    assert sent["type"] == "approve-action"


@pytest.mark.parametrize("revision", LATER)
def test_an_approval_takes_nothing_that_was_signed_for_another_input(revision: str) -> None:
    given = signed(approval(params={"n": 1}))
    made = answering(answer=True, question_id="inv1", terms=SIGNED, subject=given)

    assert receive_frame(made, f.init(revision), approval(params={"n": 2})) == []
    assert made.result is Rejection.CLOSED


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_where_approvals_are_signed_a_question_is_answered_without(revision: str) -> None:
    made = answering(terms=SIGNED)

    (sent,) = receive_frame(made, f.init(revision), f.asked(revision))

    assert sent["type"] == "answer"


def test_a_prompt_of_another_kind_is_no_approval() -> None:
    made = answering(question_id="q1", terms=SIGNED)
    prompt = {"id": "q1", "type": "form", "title": "Your name?", "context": {**f.CHANNEL}}

    (sent,) = receive_frame(made, f.init("V"), f.frame("interactive_prompt", prompt=prompt))

    assert sent["type"] == "answer"


@pytest.mark.parametrize(("by", "admitted"), [(f.ME, True), ("ann", False)])
def test_r_who_asked_is_who_answers(by: str, *, admitted: bool) -> None:
    made = answering(terms=Terms(asker_alone=True))
    made.receive_frame(init_r({**prompt("P1"), "authorId": by}, turn()), 0)

    assert made.result is (None if admitted else Rejection.UNKNOWN)


@pytest.mark.parametrize("revision", LATER)
def test_a_v_do_not_say_who_asked(revision: str) -> None:
    made = answering(terms=Terms(asker_alone=True))

    (sent,) = receive_frame(made, f.init(revision), f.asked(revision))

    assert sent["type"] == "answer"
