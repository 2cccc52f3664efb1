"""The open calls and questions that the timers count are those that a client is shown."""

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from turnwire.core.events import (
    Phase,
    Question,
    QuestionClosed,
    ReasoningDelta,
    Replied,
    TextDelta,
    ToolUpdate,
    TurnStarted,
)
from turnwire.core.turn.open_work import (
    CALLS_MAX,
    QUESTIONS_MAX,
    OpenWork,
    WorkEvent,
)
from turnwire.core.ui_stream.translator import Translator

CALLS = [
    ToolUpdate(call_id=call_id, tool_name="t", phase=phase, args=Raw(b"{}"))
    for call_id in ("c1", "c2")
    for phase in Phase
]
EVENTS: list[WorkEvent] = [
    *CALLS,
    *(TextDelta("x"), TextDelta(""), TextDelta("\ud83d"), ReasoningDelta("x"), ReasoningDelta("")),
    *(Question("q1", Raw(b"{}")), Question("q2", Raw(b"{}"))),
    *(QuestionClosed("q1"), QuestionClosed("q2", expired=True)),
]


@settings(max_examples=500, deadline=None, database=None)
@given(st.lists(st.sampled_from(EVENTS), max_size=24))
def test_they_are_those_of_the_ui_stream(events: list[WorkEvent]) -> None:
    work, translator = OpenWork(), Translator()
    translator.feed(TurnStarted("turn"))
    for event in events:
        work.take(event)
        translator.feed(event)

        assert len(work.calls) == translator.calls.open
        assert len(work.questions) == len(translator.questions)


def call(number: int, phase: Phase = Phase.RUNNING) -> ToolUpdate:
    return ToolUpdate(call_id=f"c{number}", tool_name="t", phase=phase)


def test_calls_are_counted_up_to_a_bound() -> None:
    work = OpenWork()
    for number in range(CALLS_MAX + 1):
        work.take(call(number))
    assert len(work.calls) == CALLS_MAX

    for number in range(CALLS_MAX + 1):
        work.take(call(number, Phase.COMPLETED))

    assert (len(work.calls), len(work._done)) == (0, CALLS_MAX)


def test_questions_are_counted_up_to_a_bound() -> None:
    work = OpenWork()
    for number in range(QUESTIONS_MAX + 1):
        work.take(Question(f"q{number}", Raw(b"{}")))

    assert len(work.questions) == QUESTIONS_MAX


def test_turns_share_nothing_that_is_filled() -> None:
    first, second = OpenWork(), OpenWork()
    for event in EVENTS:
        first.take(event)

    assert not second.calls
    assert not second._done
    assert not second.questions


def test_a_requested_approval_opens_its_call_which_outlives_the_reply() -> None:
    work = OpenWork()
    work.take(TextDelta("May I?"))
    work.request("q1", "c1")
    assert (list(work.calls), work.has_questions) == (["c1"], True)

    work.take(Replied("q1"))
    assert (list(work.calls), work.has_questions) == (["c1"], False)

    work.take(call(1, Phase.COMPLETED))
    assert not work.calls


def test_requests_are_counted_up_to_a_bound_and_closed_like_questions() -> None:
    work = OpenWork()
    for number in range(QUESTIONS_MAX + 1):
        work.request(f"q{number}", "c1")
    for number in range(1, QUESTIONS_MAX + 1):
        assert work.has_questions
        work.take(QuestionClosed(f"q{number}"))

    assert not work.has_questions


def test_once_the_output_has_ended_nothing_is_open() -> None:
    work = OpenWork()
    work.take(call(1))
    work.take(Question("q1", Raw(b"{}")))
    work.close()
    work.take(call(2))
    work.request("q2", "c3")

    assert (len(work.calls), work.has_questions) == (0, False)
