import pytest
from msgspec import Raw

from turnwire.core import events
from turnwire.core.approvals import subject
from turnwire.core.events import Approval, Question, QuestionClosed, Reason, Replied
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.terms import Terms
from turnwire.core.turn_log.questions import ANSWER_SUFFIX, AskedQuestions

ANY = Terms()
YES = Raw(b"true")
CALL = Approval("c1", "rm", Raw(b"{}"))


def asked(*question_ids: str, asker: str = "u1") -> AskedQuestions:
    questions = AskedQuestions(asker)
    questions.take(events.TurnStarted("t1"))
    for question_id in question_ids:
        questions.take(Question(question_id, Raw(b"{}")))
    return questions


def reply(question_id: str, digest: bytes | None = None) -> QuestionReply:
    return QuestionReply(question_id, YES, digest)


def test_an_open_question_takes_one_answer() -> None:
    questions = asked("q1", "q2")

    assert questions.answer([reply("q1")], "u1", ANY) is None
    assert questions.answer([reply("q1")], "u1", ANY) is Rejection.CLOSED
    assert questions.answer([reply("q2")], "u2", ANY) is None


def test_all_answers_or_none() -> None:
    questions = asked("q1")

    assert questions.answer([reply("q1"), reply("q9")], "u1", ANY) is Rejection.UNKNOWN
    assert questions.answer([reply("q1")], "u1", ANY) is None


@pytest.mark.parametrize(
    "end",
    [
        QuestionClosed("q1"),
        Replied("q1"),
        events.TurnFinished(reason=Reason.END_TURN),
    ],
)
def test_what_closes_a_question(end: events.Event) -> None:
    questions = asked("q1")
    questions.take(end)

    assert questions.answer([reply("q1")], "u1", ANY) is Rejection.CLOSED


def test_events_that_are_about_no_question() -> None:
    questions = asked("q1")
    questions.take(events.TextDelta("x"))
    questions.take(QuestionClosed("q9"))

    assert questions.answer([reply("q9")], "u1", ANY) is Rejection.UNKNOWN


def test_a_question_that_is_asked_again_is_open() -> None:
    questions = asked("q1")
    questions.take(QuestionClosed("q1"))
    questions.take(Question("q1", Raw(b"{}")))

    assert questions.answer([reply("q1")], "u1", ANY) is None


def test_only_the_asker_may_answer_where_the_terms_say_so() -> None:
    terms = Terms(asker_alone=True)

    assert asked("q1").answer([reply("q1")], "u2", terms) is Rejection.UNKNOWN
    assert asked("q1").answer([reply("q1")], "u1", terms) is None
    assert asked("q1", asker="").answer([reply("q1")], "u2", terms) is None


@pytest.mark.parametrize("turn_id", ["t1", f"t1{ANSWER_SUFFIX}"])
def test_an_approval_takes_the_answer_that_was_signed_for_it(turn_id: str) -> None:
    terms = Terms(signed=True)
    questions = asked()
    questions.take(Question("q1", Raw(b"{}"), CALL))
    other = subject("t1", Approval("c1", "rm", Raw(b'{"a":1}')))

    assert questions.answer([reply("q1")], "u1", terms) is Rejection.UNSIGNED
    assert questions.answer([reply("q1", other)], "u1", terms) is Rejection.CLOSED
    assert questions.answer([reply("q1", subject(turn_id, CALL))], "u1", terms) is None


def test_a_turn_that_starts_over_keeps_its_former_ids() -> None:
    questions = asked()
    questions.take(events.TurnStarted("t2"))
    questions.take(Question("q1", Raw(b"{}"), CALL))

    for turn_id in ("t1", "t2"):
        questions.take(Question("q1", Raw(b"{}"), CALL))
        assert questions.answer([reply("q1", subject(turn_id, CALL))], "u1", ANY) is None


def test_what_is_kept_is_bounded() -> None:
    questions = asked(*[f"q{number}" for number in range(65)])

    assert questions.answer([reply("q0")], "u1", ANY) is Rejection.UNKNOWN
    assert questions.answer([reply("q1")], "u1", ANY) is None


@pytest.mark.parametrize(
    ("payloads", "until"),
    [
        ([b"{}"], None),
        ([b'{"expiresAt":2500}'], 2.5),
        ([b'{"expiresAt":9000}', b"{}", b'{"expiresAt":3000}'], 3.0),
        ([b'{"expiresAt":"soon"}', b"[]", b"{", b'{"expiresAt":null}'], None),
        ([b'{"a":' + b"[" * 5_000], None),
    ],
)
def test_until_when_the_open_questions_wait(payloads: list[bytes], until: float | None) -> None:
    questions = asked()
    for number, payload in enumerate(payloads):
        questions.take(Question(f"q{number}", Raw(payload)))

    assert questions.open_until() == until
    assert questions.open_ids == {f"q{number}" for number in range(len(payloads))}


def test_an_approval_is_answered_by_no_more_than_a_yes_or_a_no() -> None:
    questions = AskedQuestions("u1")
    questions.take(Question("q1", Raw(b"{}"), CALL))
    edited = QuestionReply("q1", Raw(b'{"approved":true,"editedArgs":{}}'))

    assert questions.answer([edited], "u1", ANY) is Rejection.NO_VERDICT
    assert questions.answer([reply("q1")], "u1", ANY) is None
