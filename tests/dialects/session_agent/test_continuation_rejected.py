"""A client answers what is not open, or not its to answer: nothing goes on, and a status says why.

The limits by revision are listed in docs/session-agent.md, each with its test.
"""

from typing import Any

import pytest
from msgspec import Raw

from support import session_agent_frames as f
from support.session_agent_continued import ASKS, YES, approval, continued, hello
from support.session_agent_resumed import INIT_S, LATER, OTHER, init_r, prompt, turn
from support.turns import sent_types, wait
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.terms import Terms
from turnwire.core.turn.inputs import Tick
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.dialects.session_agent.answer import OPEN_QUESTIONS_S


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("asks", [[], ["q2"]])
def test_where_a_question_is_not_open_none_is_answered(revision: str, asks: list[str]) -> None:
    stream = continued(YES, QuestionReply("q2", Raw(b'"no"')))
    questions = [f.asked(revision, question) for question in asks]

    assert stream.frames([hello(revision), *questions], 1) == Output()
    assert stream.deadline == 1 + OPEN_QUESTIONS_S
    assert stream.handle(Tick(), 1 + OPEN_QUESTIONS_S) == Output()
    assert (stream.outcome, stream.rejection) == (Outcome.REFUSED, Rejection.CLOSED)


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize(
    "told_of",
    [
        pytest.param(lambda revision: [f.asked(revision, "q1")], id="another channel's"),
        pytest.param(lambda revision: [f.answered(revision)], id="answered meanwhile"),
        pytest.param(lambda revision: [f.expired(revision)], id="expired meanwhile"),
        pytest.param(lambda _: [f.status(status="terminated")], id="the session died"),
        pytest.param(lambda _: [f.init("V"), f.chunk("x"), f.user(by="ann")], id="not told of"),
    ],
)
def test_a_question_that_is_closed_is_a_conflict(revision: str, told_of: Any) -> None:
    frames = told_of(revision)
    if frames == [f.asked(revision, "q1")]:
        frames = [frames[0].replace(b'"default"', b'"other"')]
    stream = continued()

    stream.frames([hello(revision), *frames], 1)
    wait(stream, 3)

    assert (stream.outcome, stream.rejection) == (Outcome.REFUSED, Rejection.CLOSED)
    assert stream.frames([f.asked(revision)], 3) == Output()


def test_a_frame_that_comes_before_the_timer_does_not_keep_the_client_waiting() -> None:
    stream = continued()
    stream.frames([hello("V")], 1)

    assert stream.frames([f.asked("V")], 1 + OPEN_QUESTIONS_S).to_agent == ()
    assert stream.rejection is Rejection.CLOSED
    assert stream._protocol.receive_frame(f.asked("V"), 3) is None


def test_what_comes_before_init_or_cannot_be_read_is_passed_over() -> None:
    stream = continued()

    assert stream.frames([f.asked("R"), f.status(status="terminated"), b"{"], 1) == Output()
    assert stream.outcome is None


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_dead_session_takes_no_answer(revision: str) -> None:
    stream = continued()

    stream.frames([f.init(revision, alive="archived", runnerBusy=True)], 1)

    assert stream.rejection is Rejection.CLOSED


def test_an_approval_of_another_agent_is_not_open_here() -> None:
    stream = continued(QuestionReply("q1", Raw(b"true"), b"a subject"))

    assert stream.frames([hello("V"), f.asked("V")], 1) == Output()
    assert stream.rejection is Rejection.CLOSED


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([], id="no turn"),
        pytest.param([prompt("P1"), turn(f.text("A"), f.END, content="A")], id="it is over"),
        pytest.param([prompt("P1", **OTHER), turn(ASKS, **OTHER)], id="of another channel"),
    ],
)
def test_r_without_its_turn_a_question_is_not_open(entries: list[f.Fields]) -> None:
    """R gives up on a turn after a minute, and keeps its question."""
    stream = continued()

    stream.frames([init_r(*entries), f.asked("R")], 1)

    assert stream.rejection is Rejection.CLOSED


def test_r_a_question_that_names_no_channel_is_that_of_the_turn_at_work() -> None:
    th1 = {"channelType": "web", "channelId": "th1"}
    stream = continued(channel=th1)
    asks = f.frame("question", questionId="q1", text="Proceed?")

    act = stream.frames([init_r(prompt("P1", **th1), turn(ASKS, **th1)), asks], 1)

    assert sent_types(act) == ["answer"]


def test_without_an_init_there_is_nobody_to_ask() -> None:
    stream = continued()

    assert stream.deadline == INIT_S
    stream.handle(Tick(), INIT_S)

    assert stream.rejection is Rejection.SILENT


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_an_answer_of_which_nothing_is_heard_is_not_taken_for_taken(revision: str) -> None:
    stream = continued()
    stream.frames([hello(revision), f.asked(revision)], 1)

    assert stream.handle(Tick(), 1 + INIT_S) == Output()

    assert (stream.outcome, stream.rejection) == (Outcome.REFUSED, Rejection.SILENT)


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_somebody_else_was_faster(revision: str) -> None:
    stream = continued()
    stream.frames([hello(revision), f.asked(revision)], 1)

    assert stream.frames([f.answered(revision, answer="no")], 1) == Output()

    assert (stream.outcome, stream.rejection) == (Outcome.REFUSED, Rejection.CLOSED)


def test_an_approval_takes_no_other_answer() -> None:
    stream = continued()

    assert stream.frames([hello("V"), approval()], 1) == Output()
    assert stream.rejection is Rejection.UNSUPPORTED


def test_an_approval_that_is_not_this_users_is_not_known() -> None:
    stream = continued(QuestionReply("q1", Raw(b"true")))
    stream.frames([hello("V"), approval()], 1)

    said = "Only the session owner can resolve this prompt"
    assert stream.frames([f.frame("error", error=said, promptId="q1")], 1) == Output()

    assert stream.rejection is Rejection.UNKNOWN


def test_r_where_what_was_said_does_not_add_up_nothing_is_answered() -> None:
    stream = continued()

    assert stream.frames([hello("R", content="Z"), f.asked("R")], 1) == Output()
    assert stream.rejection is Rejection.UNSUPPORTED


@pytest.mark.parametrize("revision", LATER)
def test_where_approvals_are_signed_one_takes_no_answer_that_is_not(revision: str) -> None:
    stream = continued(QuestionReply("q1", Raw(b"true")), terms=Terms(signed=True))

    assert stream.frames([hello(revision), approval()], 1) == Output()
    assert stream.rejection is Rejection.UNSIGNED


def test_r_who_asked_is_who_answers() -> None:
    stream = continued(terms=Terms(asker_alone=True))

    assert stream.frames([hello("R", by="ann"), f.asked("R")], 1) == Output()
    assert stream.rejection is Rejection.CLOSED


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_who_asked_may_answer(revision: str) -> None:
    stream = continued(terms=Terms(asker_alone=True))

    assert len(stream.frames([hello(revision), f.asked(revision)], 1).to_agent) == 1
