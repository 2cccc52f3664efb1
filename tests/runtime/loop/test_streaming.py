from collections.abc import Sequence

import pytest
from msgspec import Raw
from msgspec.structs import replace

from runtime.loop.journal import AGENT, following
from runtime.loop.scenarios import TOOLS
from turnwire_agent.llm.events import (
    Begun,
    Event,
    FileMade,
    Finish,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    Skipped,
    Source,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    Usage,
)
from turnwire_agent.llm.faults import Fault
from turnwire_agent.llm.transcript import Call, Image, Reasoning, Text
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.limits import Limits
from turnwire_agent.loop.streaming import Attempt
from turnwire_agent.session.deltas import (
    Delta,
    FileAdded,
    InputAdded,
    ReasoningAdded,
    SourceAdded,
    TextAdded,
)
from turnwire_agent.session.events import AttemptLost, StepEnded

USAGE = Usage(10, None, None, 5)
FINISH = Finish("stop", "end_turn", USAGE, Raw(b"[]"))
HEY = (TextStart("0"), TextDelta("0", "Hey"), TextEnd("0"))
BEGUN = Begun("r", "m")


def asked(agent: Agent = AGENT) -> AskModel:
    [action] = following(agent=agent)
    assert isinstance(action, AskModel)
    return action


def taken(
    *events: Event, agent: Agent = AGENT, ask: AskModel | None = None
) -> tuple[Sequence[Delta], Attempt]:
    """What is shown of some events, and the attempt that took them."""
    attempt = Attempt(ask or asked(agent), agent, TOOLS.wire("chat"), since=4)
    shown: list[Delta] = []
    for event in events:
        shown += attempt.add(event)
    return shown, attempt


def ended(*events: Event, agent: Agent = AGENT, ask: AskModel | None = None) -> StepEnded:
    outcome = taken(*events, agent=agent, ask=ask)[1].outcome()
    assert isinstance(outcome, StepEnded)
    return outcome


def lost(*events: Event, agent: Agent = AGENT) -> AttemptLost:
    outcome = taken(*events, agent=agent)[1].outcome()
    assert isinstance(outcome, AttemptLost)
    return outcome


def test_an_answer_is_shown_as_it_comes() -> None:
    events: list[Event] = [
        BEGUN,
        ReasoningStart("0"),
        ReasoningDelta("0", "Hm"),
        ReasoningEnd("0"),
        TextStart("1"),
        TextDelta("1", "He"),
        TextDelta("1", "y"),
        TextEnd("1"),
        Source("https://a.example", "A"),
        Source("https://b.example"),
        Skipped("odd"),
        FileMade("image/png", b"abc"),
    ]
    shown, attempt = taken(*events, FINISH)

    assert shown == [
        ReasoningAdded("Hm"),
        TextAdded("He"),
        TextAdded("y"),
        SourceAdded("source-0-0-1", "https://a.example", "A"),
        SourceAdded("source-0-0-2", "https://b.example", ""),
        FileAdded("image/png", "data:image/png;base64,YWJj"),
    ]
    outcome = attempt.outcome()
    assert isinstance(outcome, StepEnded)
    assert outcome.message.parts == (Reasoning("Hm"), Text("Hey"), Image("image/png", b"abc"))
    assert (outcome.finish_reason, outcome.raw, outcome.usage) == ("stop", "end_turn", USAGE)
    assert (outcome.turn_id, outcome.step, outcome.call_ids) == ("t", 0, ())


def test_inputs_stream_under_the_registered_name_and_the_id_of_the_turn() -> None:
    wire = TOOLS.wire("chat").wire("mail.send")
    shown, attempt = taken(
        ToolInputStart("a", wire),
        ToolInputDelta("a", '{"n"'),
        ToolInputStart("b", "invented"),
        ToolInputDelta("a", ":1}"),
        ToolInputEnd("a"),
        ToolCall("a", wire, '{"n":1}'),
        ToolCall("b", "invented", "{}"),
        ToolCall("c", "find", '{"n":2}'),
        FINISH,
        ask=replace(asked(), used_ids=frozenset({"a", "b-2"})),
    )

    assert shown == [
        InputAdded("a-2", "mail.send", ""),
        InputAdded("a-2", "mail.send", '{"n"'),
        InputAdded("b", "invented", ""),
        InputAdded("a-2", "mail.send", ":1}"),
        InputAdded("c", "find", '{"n":2}'),
    ]
    outcome = attempt.outcome()
    assert isinstance(outcome, StepEnded)
    assert outcome.call_ids == ("a-2", "b", "c")
    assert outcome.message.calls == (
        Call("a", "mail.send", '{"n":1}'),
        Call("b", "invented", "{}"),
        Call("c", "find", '{"n":2}'),
    )


def test_a_stream_that_just_stops_is_no_answer() -> None:
    gone = lost(BEGUN, *HEY)

    assert (gone.why, gone.final, gone.since, gone.step, gone.attempt) == (
        "truncated",
        False,
        4,
        0,
        0,
    )
    assert lost().final
    assert lost(BEGUN).final


def test_a_fault_ends_the_attempt_without_the_words_of_the_provider() -> None:
    fault = Fault(kind="overloaded", message="secret", code="secret", retry_after_s=9.0)
    shown, attempt = taken(BEGUN, *HEY, fault)

    assert attempt.is_over
    assert shown == [TextAdded("Hey")]
    gone = lost(BEGUN, *HEY, fault)
    assert (gone.why, gone.retry_after_s, gone.final) == ("overloaded", 9.0, False)
    assert "secret" not in repr(gone)


def test_an_attempt_is_final_if_its_call_was_given_up_before_the_answer() -> None:
    fault = Fault(kind="overloaded")

    assert lost(fault).final
    assert lost(BEGUN, fault).final
    assert not lost(BEGUN, TextStart("0"), fault).final


@pytest.mark.parametrize(
    ("finish", "window"),
    [
        (replace(FINISH, reason="length", raw="model_context_window_exceeded"), None),
        (FINISH, 14),
        (replace(FINISH, reason="length"), 15),
    ],
)
def test_an_answer_that_fills_the_window_is_lost_if_a_shorter_transcript_can_be_tried(
    finish: Finish, window: int | None
) -> None:
    able = replace(AGENT, window=window, compacts=True)
    gone = lost(*HEY, finish, agent=able)

    assert (gone.why, gone.usage, gone.final) == ("context-overflow", USAGE, False)
    assert ended(*HEY, finish, agent=replace(able, compacts=False)).raw == finish.raw
    assert ended(*HEY, FINISH, agent=replace(able, window=16)).usage == USAGE


@pytest.mark.parametrize(
    "event",
    [
        TextDelta("0", "x" * 8),
        ReasoningDelta("1", "x" * 8),
        ToolInputDelta("a", "x" * 8),
        ToolCall("b", "find", "x" * 8),
    ],
)
def test_an_answer_with_too_many_characters_is_given_up(event: Event) -> None:
    starts = (TextStart("0"), ReasoningStart("1"), ToolInputStart("a", "find"))
    agent = replace(AGENT, limits=Limits(answer_chars=15))
    _, attempt = taken(*starts, event, agent=agent)

    assert not attempt.is_over
    again = ToolCall("c", "find", "x" * 8) if isinstance(event, ToolCall) else event
    attempt.add(again)
    assert attempt.is_over
    gone = attempt.outcome()
    assert isinstance(gone, AttemptLost)
    assert gone.why == words.TOO_LONG


def test_an_attempt_is_over_with_its_end() -> None:
    assert not taken(BEGUN, *HEY)[1].is_over
    assert taken(BEGUN, *HEY, FINISH)[1].is_over
