"""Steps that the agent names, and attempts that it takes back."""

from typing import Any

import pytest
from msgspec import Raw

from support.shown import brief, shown, started, tool
from turnwire.core.body.client_copy import ClientCopy
from turnwire.core.events import (
    Approval,
    DataPart,
    Event,
    FilePart,
    PartsRetracted,
    Phase,
    Question,
    Reason,
    ReasoningDelta,
    ReplayFinished,
    ReplayStarted,
    ReplayUncertain,
    StepStarted,
    TextBreak,
    TextDelta,
    ToolInputDelta,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.ui_stream.numbering import Numbered
from turnwire.core.ui_stream.translator import Translator

TEXT, OTHER = TextDelta("Hi"), TextDelta("Ho")
RUNS, DONE = tool(Phase.RUNNING, args={}), tool(Phase.COMPLETED, result=1)
STEP, NEXT = StepStarted(), ["finish-step", "start-step"]
CALL = Approval("c", "bash", Raw(b"{}"))


def types(translator: Translator, *events: Event) -> list[str]:
    return [chunk["type"] for event in events for chunk in shown(translator.feed(event))]


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ([TEXT], ["text-end", *NEXT]),
        ([ReasoningDelta("hm")], ["reasoning-end", *NEXT]),
        ([RUNS, DONE], NEXT),
        ([FilePart("https://a.example/", "image/png")], NEXT),
        ([TEXT, TextBreak()], NEXT),
        ([], []),
        ([TEXT, STEP], []),
        ([RUNS], []),
        ([tool(Phase.PENDING)], []),
        ([RUNS, TEXT], ["text-end"]),
    ],
)
def test_a_step_begins_unless_the_last_one_is_empty_or_a_call_is_open(
    before: list[Event], expected: list[str]
) -> None:
    assert types(started(*before), STEP) == expected


def test_a_step_that_waits_for_a_call_begins_with_the_text_behind_it() -> None:
    translator = started(RUNS, STEP, DONE)

    assert types(translator, TEXT) == [*NEXT, "text-start", "text-delta"]
    assert types(translator, STEP, STEP) == ["text-end", *NEXT]


def test_before_and_after_the_turn_there_are_neither() -> None:
    translator = Translator(resets=True)
    assert types(translator, STEP, PartsRetracted(0)) == []
    translator.feed(TurnStarted("t"))
    translator.feed(TurnFinished(reason=Reason.END_TURN))
    assert types(translator, STEP, PartsRetracted(0)) == []


def test_a_client_that_counts_has_a_step_also_while_a_call_is_open() -> None:
    translator = Numbered()
    translator.feed(TurnStarted("t"))
    translator.feed(RUNS)

    kinds = types(translator, STEP)
    assert [kind for kind in kinds if kind != "data-agent-status"] == NEXT


@pytest.mark.parametrize(
    ("before", "since", "expected"),
    [
        ([TEXT], 0, ["text-end"]),
        ([RUNS, DONE, TEXT], 1, ["text-end"]),
        ([TEXT, RUNS], 0, []),
        ([ToolInputDelta("c", "bash", "{")], 0, []),
        ([TEXT, STEP, OTHER, RUNS], 1, []),
        ([TEXT, STEP, OTHER, RUNS], 0, []),
        ([RUNS, STEP, TEXT], 0, ["text-end"]),
        ([FilePart("https://a.example/", "image/png"), TEXT], 0, ["text-end"]),
        ([DataPart("state", None, Raw(b"1"))], 0, []),
        ([Question("q", Raw(b"{}")), STEP, TEXT], 1, ["text-end"]),
        ([DataPart("state", "d", Raw(b"1")), STEP, TEXT], 1, ["text-end"]),
    ],
)
def test_a_whole_step_is_reset_for_a_client_that_knows_it(
    before: list[Event], since: int, expected: list[str]
) -> None:
    assert types(started(*before, native=True, resets=True), PartsRetracted(since)) == [
        *expected,
        "reset-step",
    ]


@pytest.mark.parametrize(
    ("before", "since"),
    [
        ([TEXT, STEP, FilePart("https://a.example/", "image/png"), OTHER], 2),
        ([TEXT, RUNS, DONE, STEP, ReasoningDelta("hm"), TEXT], 3),
        ([TEXT, Question("q", Raw(b"{}")), TEXT], 0),
        ([DataPart("state", "d", Raw(b"1")), TEXT], 0),
        ([TEXT, TurnStarted("u"), ReasoningDelta("hm"), TEXT], 0),
    ],
    ids=["a part", "a later part", "a question", "data with an id", "an earlier turn"],
)
def test_no_more_than_what_is_taken_back_is_reset(before: list[Event], since: int) -> None:
    translator = started(*before, native=True, resets=True)

    assert types(translator, PartsRetracted(since)) == ["text-end", *NEXT]


def test_a_step_that_asks_for_an_approval_is_not_reset() -> None:
    translator = started(RUNS, native=True, resets=True)
    translator.request(Question("q", Raw(b"{}"), CALL), CALL, "a1")
    assert types(translator, PartsRetracted(0))[-1] == "start-step"

    translator = started(RUNS, native=True, resets=True)
    translator.feed_closed_request(Question("q", Raw(b"{}"), CALL), CALL)
    assert types(translator, PartsRetracted(0))[-1] == "start-step"


@pytest.mark.parametrize("options", [{}, {"native": True}])
def test_any_other_client_gets_the_ends_of_what_is_open_and_a_step(options: Any) -> None:
    lost: list[Event] = [
        TEXT,
        STEP,
        OTHER,
        ToolInputDelta("c", "bash", '{"a":'),
        tool(Phase.RUNNING, "d"),
    ]
    translator = started(*lost, **options)

    assert brief(translator.feed(PartsRetracted(1))) == [
        'tool-input-available c {"a":',
        "tool-output-error c Taken back",
        "tool-input-available d {}",
        "tool-output-error d Taken back",
        *NEXT,
    ]
    assert types(translator, STEP, TEXT) == ["text-start", "text-delta"]


def test_what_was_told_before_stands() -> None:
    translator = started(RUNS, TEXT)

    assert types(translator, PartsRetracted(1)) == ["text-end"]  # a call is open: no step
    assert types(translator, DONE) == ["tool-output-available"]
    assert types(translator, OTHER) == [*NEXT, "text-start", "text-delta"]


def test_where_nothing_was_told_since_then_nothing_is_taken_back() -> None:
    translator = started(RUNS, DONE, TEXT, native=True, resets=True)

    assert types(translator, PartsRetracted(2)) == ["text-end"]
    assert types(translator, PartsRetracted(1)) == ["reset-step"]


@pytest.mark.parametrize("resets", [True, False])
@pytest.mark.parametrize("first", [RUNS, tool(Phase.PENDING), DONE, ToolInputDelta("c", "x", "{")])
def test_an_id_of_a_call_that_was_taken_back_is_that_of_another_one(
    first: Event, *, resets: bool
) -> None:
    translator = started(RUNS, DONE, native=True, resets=resets)
    translator.feed(PartsRetracted(0))

    (begun, *_) = shown(translator.feed(first))
    assert begun["toolCallId"] == "c#2"


def test_in_a_step_that_was_reset_text_begins_no_step() -> None:
    translator = started(RUNS, DONE, native=True, resets=True)

    assert types(translator, PartsRetracted(0), TEXT) == ["reset-step", "text-start", "text-delta"]


def test_a_turn_that_starts_over_does_not_take_back_what_it_told_before() -> None:
    translator = started(RUNS, tool(Phase.COMPLETED, "d"), TurnStarted("u"), TEXT)

    assert types(translator, PartsRetracted(0)) == ["text-end"]
    assert types(translator, DONE) == ["tool-output-available"]


@pytest.mark.parametrize(
    ("before", "since", "final"),
    [
        ([TEXT], 0, "Yes."),
        ([TEXT, STEP, OTHER], 1, "HiYes."),
        ([TEXT, STEP, OTHER, PartsRetracted(1), STEP, OTHER], 1, "HiYes."),
        ([TEXT, RUNS, DONE, STEP, OTHER], 2, "Hi\n\nYes."),
        ([TEXT, RUNS, DONE, OTHER, STEP, OTHER], 3, "Hi\nHoYes."),
    ],
)
def test_the_final_text_has_none_of_it(before: list[Event], since: int, final: str) -> None:
    for options in ({}, {"native": True, "resets": True}):
        translator = started(*before, PartsRetracted(since), TextDelta("Yes"), **options)
        end = TurnFinished(reason=Reason.END_TURN, final_text=final)

        deltas = [c["delta"] for c in shown(translator.feed(end)) if c["type"] == "text-delta"]
        assert deltas == ["."]
        assert translator.sent_text.contradicted_chars == 0


def continued(*replayed: Event, **copy: Any) -> Translator:
    """A translator of a client that has so much of its message, in mid-replay."""
    known = ClientCopy(message_id="m1", **copy)
    translator = Translator(native=True, resets=True, client_copy=known)
    for event in (ReplayStarted("t"), *replayed):
        assert translator.feed(event) == []
    return translator


def deltas(translator: Translator, *events: Event) -> list[str]:
    chunks = [chunk for event in events for chunk in shown(translator.feed(event))]
    return [chunk["delta"] for chunk in chunks if chunk["type"] == "text-delta"]


def test_a_client_that_was_reset_has_no_text_of_the_lost_attempt() -> None:
    lost: list[Event] = [TextDelta("lost"), PartsRetracted(1), TextDelta("good")]
    translator = continued(TextDelta("abc"), STEP, *lost, text_chars=9, text_blocks=2)

    # It has "abcgood" and two characters of what came then.
    assert deltas(translator, ReplayUncertain(), TextDelta("since")) == ["nce"]


def test_what_a_client_has_of_its_last_step_is_not_reset_by_another_response() -> None:
    translator = continued(TEXT, text_chars=2, text_blocks=1)
    translator.feed(ReplayUncertain())
    assert types(translator, OTHER, PartsRetracted(0)) == [
        *("text-start", "text-delta", "text-end"),
        "start-step",
    ]
    # Nor what it may have of the lost attempt.
    assert types(translator, OTHER, PartsRetracted(0))[-1] == "start-step"
    translator.feed(ReplayFinished())
    assert types(translator, OTHER, PartsRetracted(0))[-1] == "reset-step"
