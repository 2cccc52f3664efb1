"""Messages of text and of reasoning: one block each, in order, and nothing twice."""

import pytest

from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.ag_ui.content.text import (
    EARLIER_MAX,
    MESSAGES_MAX,
    ReasoningMessages,
    TextMessages,
)


def events_of(messages: ReasoningMessages, message_id: str, *deltas: str) -> list[Event]:
    """What a whole message tells."""
    new = [event for delta in deltas for event in messages.content(message_id, delta)]
    return new + messages.end(message_id)


def test_a_message_is_a_block() -> None:
    text = TextMessages(FrameStats())

    assert text.start("m1", "assistant") == []
    assert text.content("m1", "a") == [TextDelta("a")]
    assert text.content("m1", "b") == [TextDelta("b")]
    assert text.end("m1") == [TextBreak()]
    assert text.content("m2", "c") == [TextDelta("c")]


def test_a_message_without_text_is_nothing() -> None:
    text = TextMessages(FrameStats())

    assert text.start("m1", None) + text.content("m1", "") + text.end("m1") == []


def test_messages_that_come_at_once_break_each_other() -> None:
    text = TextMessages(FrameStats())

    assert text.content("m1", "a") == [TextDelta("a")]
    assert text.content("m2", "b") == [TextBreak(), TextDelta("b")]
    assert text.end("m1") == []
    assert text.content("m1", "c") == [TextBreak(), TextDelta("c")]


@pytest.mark.parametrize("role", ["user", "system", "developer", "tool"])
def test_what_others_say_is_no_text_of_the_assistant(role: str) -> None:
    stats = FrameStats()
    text = TextMessages(stats)

    text.start("m1", role)

    assert text.content("m1", "secret") + text.end("m1") == []
    assert stats.left_out == {"text of another role": 1}
    assert text.content("m1", "mine") == [TextDelta("mine")]


def test_of_very_many_messages_the_oldest_role_is_forgotten() -> None:
    text = TextMessages(FrameStats())

    for number in range(MESSAGES_MAX + 1):
        text.start(f"m{number}", "user")

    assert text.content("m0", "a") == [TextDelta("a")]
    assert text.content("m1", "b") == []


def test_reasoning_is_a_block_for_each_message() -> None:
    reasoning = ReasoningMessages(FrameStats())

    assert events_of(reasoning, "r1", "a", "b") == [
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextBreak(),
    ]
    assert reasoning.content("r2", "c") == [ReasoningDelta("c")]
    assert reasoning.content("r3", "d") == [TextBreak(), ReasoningDelta("d")]
    assert reasoning.end("r2") == []
    assert reasoning.close() == [TextBreak()]
    assert reasoning.close() == []


def test_reasoning_without_text_is_nothing() -> None:
    reasoning = ReasoningMessages(FrameStats())

    assert events_of(reasoning, "r1", "") == []


@pytest.mark.parametrize(
    "again", [["First I ", "consider."], ["First I consider."], ["F", "irst I consider."]]
)
def test_reasoning_that_is_told_again_is_told_once(again: list[str]) -> None:
    stats = FrameStats()
    reasoning = ReasoningMessages(stats)
    events_of(reasoning, "r1", "First I ", "consider.")

    assert events_of(reasoning, "r2", *again) == []
    assert stats.doubled == len(again)


@pytest.mark.parametrize("again", ["One. Two.", "Two."])
def test_of_several_messages_one_may_come_again_or_all(again: str) -> None:
    reasoning = ReasoningMessages(FrameStats())
    events_of(reasoning, "r1", "One. ")
    events_of(reasoning, "r2", "Two.")

    assert events_of(reasoning, "r3", again) == []


def test_reasoning_that_only_begins_alike_is_told() -> None:
    reasoning = ReasoningMessages(FrameStats())
    events_of(reasoning, "r1", "First I consider.")

    assert reasoning.content("r2", "First I ") == []
    assert reasoning.content("r2", "wait.") == [ReasoningDelta("First I wait.")]
    assert reasoning.content("r2", " And") == [ReasoningDelta(" And")]
    assert reasoning.end("r2") == [TextBreak()]


def test_reasoning_that_is_the_beginning_of_earlier_reasoning_is_told() -> None:
    reasoning = ReasoningMessages(FrameStats())
    events_of(reasoning, "r1", "First I consider.")

    assert events_of(reasoning, "r2", "First I") == [ReasoningDelta("First I"), TextBreak()]


def test_after_a_result_the_same_words_are_other_thoughts() -> None:
    reasoning = ReasoningMessages(FrameStats())
    events_of(reasoning, "r1", "Hm.")
    reasoning.new_round()

    assert events_of(reasoning, "r2", "Hm.") == [ReasoningDelta("Hm."), TextBreak()]


def test_of_very_long_reasoning_a_repetition_is_not_noticed() -> None:
    """So nothing is kept of it, and nothing of it is lost."""
    reasoning = ReasoningMessages(FrameStats())
    long = "x" * (EARLIER_MAX // 2 + 1)
    events_of(reasoning, "r1", long, long, long)

    assert events_of(reasoning, "r2", long) == [ReasoningDelta(long), TextBreak()]


def test_a_repetition_that_goes_on_beyond_what_is_kept_is_not_lost() -> None:
    reasoning = ReasoningMessages(FrameStats())
    events_of(reasoning, "r1", "x" * EARLIER_MAX)

    events = events_of(reasoning, "r2", "x" * (EARLIER_MAX // 2), "x" * EARLIER_MAX, "y")

    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)).endswith("y")
