"""The open calls and questions that the timers count are those that a client is shown."""

import random

import pytest
from msgspec import Raw

from support.scripted_protocol import Scripted
from support.seeds import each_seed
from turnwire.core.agent import Decoded
from turnwire.core.approvals import ApprovalIssuer, Signer
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import (
    Approval,
    DataPart,
    Event,
    PartsRetracted,
    Phase,
    Question,
    QuestionClosed,
    ReasoningDelta,
    ReplayFinished,
    ReplayStarted,
    Replied,
    SourceUrl,
    StepStarted,
    TextBreak,
    TextDelta,
    TextSwitch,
    ToolInputDelta,
    ToolUpdate,
    TurnStarted,
)
from turnwire.core.turn.inputs import Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.open_work import (
    COUNTED_CALLS_MAX,
    COUNTED_QUESTIONS_MAX,
    OpenWork,
    WorkEvent,
)
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream

CALLS = [
    ToolUpdate(call_id=call_id, tool_name="t", phase=phase, args=Raw(b"{}"))
    for call_id in ("c1", "c2")
    for phase in Phase
]
EVENTS: list[WorkEvent] = [
    *CALLS,
    *(ToolInputDelta("c1", "t", "{"), ToolInputDelta("c2", "t", "")),
    *(TextDelta("x"), TextDelta(""), TextDelta("\ud83d"), ReasoningDelta("x"), ReasoningDelta("")),
    *(Question("q1", Raw(b"{}")), Question("q2", Raw(b"{}"))),
    *(QuestionClosed("q1"), QuestionClosed("q2", expired=True), StepStarted()),
]


SIGNER = Signer(keys=(b"k" * 32,), session_id="s1", user_id="u1")
REQUESTS = ApprovalIssuer(signer=SIGNER, epoch=0, valid_s=60)
STREAMS = {
    "plain": StreamOptions(),
    "continued": StreamOptions(client_copy=ClientCopy(message_id="m1", pending=frozenset({"c1"}))),
    "approvals": StreamOptions(approvals=REQUESTS),
    "numbered": StreamOptions(skip=0),
    "numbered, and resumed": StreamOptions(skip=9),
}


def approval(question_id: str, call_id: str) -> Question:
    return Question(question_id, Raw(b"{}"), Approval(call_id, "t", Raw(b"{}")))


ALL_EVENTS: list[Event] = [
    *EVENTS,
    *CALLS,  # more often than others
    *(approval("q1", "c1"), approval("q3", "c2"), QuestionClosed("q3")),
    *(SourceUrl("s1", "https://h/", "t"), TurnStarted("again"), ReplayFinished()),
    *(DataPart("s", "d", Raw(b"1")), DataPart("s", None, Raw(b"1")), TextBreak()),
    TextSwitch("a", "b"),
    *(
        ToolUpdate(
            call_id=call_id, tool_name="t", phase=Phase.RUNNING, result=Raw(b"1"), preliminary=True
        )
        for call_id in ("c1", "c2")
    ),
]


class Begins(Scripted):
    """Begins with the first frame."""

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded()


@pytest.mark.parametrize("stream", STREAMS)
@each_seed(400)
def test_they_are_those_that_the_client_is_shown(stream: str, seed: int) -> None:
    rng = random.Random(f"{stream} {seed}")  # noqa: S311 (a test)
    options = STREAMS[stream]
    begun = TurnStarted("turn") if options.client_copy is None else ReplayStarted("turn")
    events: list[Event] = [begun, *rng.choices(ALL_EVENTS, k=40)]
    output = UIMessageStream(options)
    turn = Turn(Begins([Decoded([event]) for event in events]), Limits(), output)
    turn.handle(Opened(), 0)
    for _ in events:
        turn.frames([b""], 1)
        if turn.outcome is not None:  # it ended at a request for approval
            break
        work, shown = turn._open_work, output._translator

        assert len(work.calls) == shown.calls.open
        assert {*work.questions, *work._requested} == {
            *shown.questions._open,
            *shown.questions._requested,
        }


def call(number: int, phase: Phase = Phase.RUNNING) -> ToolUpdate:
    return ToolUpdate(call_id=f"c{number}", tool_name="t", phase=phase)


def test_the_calls_of_an_attempt_that_is_taken_back_are_forgotten() -> None:
    work = OpenWork()
    for event in (call(1), StepStarted(), call(1, Phase.COMPLETED), StepStarted(), call(2)):
        work.take(event)
    work.take(call(3, Phase.COMPLETED))

    work.take(PartsRetracted(1))

    assert not work.calls
    work.take(call(3))  # the next attempt may use the ids of the lost one
    assert list(work.calls) == ["c3"]


def test_a_call_of_an_earlier_step_is_not() -> None:
    work = OpenWork()
    work.has_fixed_rows = True
    for event in (call(1), StepStarted(), call(2), PartsRetracted(1)):
        work.take(event)

    assert list(work.calls) == ["c1"]


TEXT = TextDelta("text")
ENDED_AMID_TEXT = [call(1), TEXT, call(1, Phase.COMPLETED), TEXT, call(1)]
ENDED_BEFORE_TEXT = [call(1), call(2), call(1, Phase.COMPLETED), TEXT, call(1)]
ENDED_BEFORE_TEXT += [call(2, Phase.COMPLETED)]


@pytest.mark.parametrize(
    ("skip", "events", "silent_s"),
    [
        (None, ENDED_AMID_TEXT, 600),
        (0, ENDED_AMID_TEXT, 120),
        (None, ENDED_BEFORE_TEXT, 120),
        (0, ENDED_BEFORE_TEXT, 600),
    ],
    ids=["a new run", "repeated, numbered", "repeated", "a new run, numbered"],
)
def test_a_call_that_is_said_to_run_again_is_waited_for_if_the_client_sees_it_run(
    skip: int | None, events: list[Event], silent_s: float
) -> None:
    """Where chunks are counted, text ends a row of calls even while one of them is open."""
    output = UIMessageStream(StreamOptions(skip=skip))
    turn = Turn(Scripted([Decoded(events)]), Limits(idle_s=120, tool_silence_s=600), output)
    turn.handle(Opened(), 0)
    turn.frames([b""], 0)

    turn.handle(Tick(), silent_s - 1)
    assert turn.outcome is None
    turn.handle(Tick(), silent_s)

    assert turn.outcome is Outcome.SILENT


def test_calls_are_counted_up_to_a_bound() -> None:
    work = OpenWork()
    for number in range(COUNTED_CALLS_MAX + 1):
        work.take(call(number))
    assert len(work.calls) == COUNTED_CALLS_MAX

    for number in range(COUNTED_CALLS_MAX + 1):
        work.take(call(number, Phase.COMPLETED))

    assert (len(work.calls), len(work._done)) == (0, COUNTED_CALLS_MAX)


def test_questions_are_counted_up_to_a_bound() -> None:
    work = OpenWork()
    for number in range(COUNTED_QUESTIONS_MAX + 1):
        work.take(Question(f"q{number}", Raw(b"{}")))

    assert len(work.questions) == COUNTED_QUESTIONS_MAX


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
    for number in range(COUNTED_QUESTIONS_MAX + 1):
        work.request(f"q{number}", "c1")
    for number in range(1, COUNTED_QUESTIONS_MAX + 1):
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
