"""Questions that cannot be told yet wait, and not without end."""

from msgspec import Raw

from turnwire.core.bounds import OPEN_QUESTIONS_MAX, WAITING_BYTES_MAX
from turnwire.core.events import Question, QuestionClosed
from turnwire.dialects.session_agent.deferred_questions import DeferredQuestions


def question(its_id: str, size: int = 10) -> Question:
    return Question(its_id, Raw(b"x" * size))


def test_what_waits_is_told_in_its_order_once() -> None:
    deferred = DeferredQuestions()
    asked, closed = question("q1"), QuestionClosed("q1", answer=Raw(b"1"))
    expired = QuestionClosed("q0", expired=True)
    for event in (asked, closed, expired):
        deferred.add(event)

    assert deferred.take() == [asked, closed, expired]
    assert deferred.take() == []


def test_of_very_many_the_newest_wait() -> None:
    deferred = DeferredQuestions()
    for number in range(10 * OPEN_QUESTIONS_MAX):
        deferred.add(question(f"q{number}"))

    held = deferred.take()

    assert len(held) == 2 * OPEN_QUESTIONS_MAX
    assert held[-1].question_id == f"q{10 * OPEN_QUESTIONS_MAX - 1}"


def test_long_ones_take_no_more_memory_than_short_ones_may() -> None:
    deferred = DeferredQuestions()
    for number in range(10):
        deferred.add(question(f"q{number}", WAITING_BYTES_MAX // 3))

    assert [each.question_id for each in deferred.take()] == ["q7", "q8", "q9"]


def test_one_that_is_too_long_alone_does_not_wait() -> None:
    deferred = DeferredQuestions()
    deferred.add(question("q", WAITING_BYTES_MAX + 1))
    assert deferred.take() == []
    deferred.add(question("short"))
    assert [each.question_id for each in deferred.take()] == ["short"]
