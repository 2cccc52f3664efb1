"""Messages of text and of reasoning: one block each, in order, and nothing twice."""

import pytest

from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta, TextSwitch
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.core.wire.open_blocks import OpenBlocks
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
    text = TextMessages(OpenBlocks(), FrameStats())

    assert text.start("m1", "assistant") == []
    assert text.content("m1", "a") == [TextDelta("a")]
    assert text.content("m1", "b") == [TextDelta("b")]
    assert text.end("m1") == [TextBreak()]
    assert text.content("m2", "c") == [TextDelta("c")]


def test_a_message_without_text_is_nothing() -> None:
    text = TextMessages(OpenBlocks(), FrameStats())

    assert text.start("m1", None) + text.content("m1", "") + text.end("m1") == []


def test_messages_that_come_at_once_are_a_block_each() -> None:
    text = TextMessages(OpenBlocks(), FrameStats())

    assert text.content("m1", "a") == [TextDelta("a")]
    assert text.content("m2", "b") == [TextSwitch("m1", "m2"), TextDelta("b")]
    assert text.content("m1", "c") == [TextSwitch("m2", "m1"), TextDelta("c")]
    assert text.end("m1") == [TextBreak()]
    assert text.content("m2", "d") == [TextSwitch("", "m2"), TextDelta("d")]


def test_a_message_may_go_on_until_its_end() -> None:
    text = TextMessages(OpenBlocks(), FrameStats())

    text.content("m1", "a")
    text.content("m2", "b")
    text.end("m2")

    assert [text.may_go_on(each) for each in ("m1", "m2", "m3")] == [True, False, False]


@pytest.mark.parametrize("role", ["user", "system", "developer", "tool"])
def test_what_others_say_is_no_text_of_the_assistant(role: str) -> None:
    stats = FrameStats()
    text = TextMessages(OpenBlocks(), stats)

    text.start("m1", role)

    assert text.content("m1", "secret") + text.end("m1") == []
    assert stats.left_out == {"text of another role": 1}
    assert text.content("m1", "mine") == [TextDelta("mine")]


def test_of_very_many_messages_the_oldest_role_is_forgotten() -> None:
    text = TextMessages(OpenBlocks(), FrameStats())

    for number in range(MESSAGES_MAX + 1):
        text.start(f"m{number}", "user")

    assert text.content("m0", "a") == [TextDelta("a")]
    assert text.content("m1", "b") == []


def test_reasoning_is_a_block_for_each_message() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())

    assert events_of(reasoning, "r1", "a", "b") == [
        ReasoningDelta("a"),
        ReasoningDelta("b"),
        TextBreak(),
    ]
    assert reasoning.content("r2", "c") == [ReasoningDelta("c")]
    assert reasoning.content("r3", "d") == [TextSwitch("r2", "r3"), ReasoningDelta("d")]
    assert reasoning.end("r2") == [TextSwitch("r3", "r2"), TextBreak(), TextSwitch("", "r3")]
    assert reasoning.close() == [TextBreak()]
    assert reasoning.close() == []


def test_reasoning_of_two_messages_at_once_is_a_block_each() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())

    assert reasoning.content("r1", "a") == [ReasoningDelta("a")]
    assert reasoning.content("r2", "b") == [TextSwitch("r1", "r2"), ReasoningDelta("b")]
    assert reasoning.content("r1", "c") == [TextSwitch("r2", "r1"), ReasoningDelta("c")]
    assert reasoning.content("r1", "d") == [ReasoningDelta("d")]
    assert events_of(reasoning, "r2", "e") == [
        TextSwitch("r1", "r2"),
        ReasoningDelta("e"),
        TextBreak(),
    ]
    assert reasoning.end("r1") == [TextSwitch("", "r1"), TextBreak()]


def test_reasoning_that_was_told_in_two_pieces_is_told_once() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    for message_id, delta in [("r1", "First "), ("r2", "Now "), ("r1", "I."), ("r2", "you.")]:
        reasoning.content(message_id, delta)
    reasoning.close()

    assert events_of(reasoning, "r3", "First I.") == []
    assert events_of(reasoning, "r4", "Now you.") == []
    assert events_of(reasoning, "r5", "First ") == [ReasoningDelta("First "), TextBreak()]


def test_a_repetition_without_an_end_is_no_block_that_goes_on() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "Hm.")

    assert reasoning.content("r2", "Hm.") == []
    assert reasoning.content("r3", "So.") == [ReasoningDelta("So.")]
    assert reasoning.content("r2", "Hm.") == []


def test_an_id_that_is_used_again_after_its_end_is_another_message() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    reasoning.content("r1", "Hm.")
    reasoning.content("r2", "So.")
    reasoning.end("r1")
    reasoning.end("r2")

    assert events_of(reasoning, "r1", "So.") == []


def test_after_a_result_a_message_that_goes_on_may_say_the_same() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    reasoning.content("r1", "Hm.")
    reasoning.content("r2", "So.")
    reasoning.new_round()

    assert reasoning.content("r1", "Hm.") == [TextSwitch("r2", "r1"), ReasoningDelta("Hm.")]
    reasoning.close()
    assert events_of(reasoning, "r3", "Hm.") == []


def test_reasoning_without_text_is_nothing() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())

    assert events_of(reasoning, "r1", "") == []


@pytest.mark.parametrize(
    "again", [["First I ", "consider."], ["First I consider."], ["F", "irst I consider."]]
)
def test_reasoning_that_is_told_again_is_told_once(again: list[str]) -> None:
    stats = FrameStats()
    reasoning = ReasoningMessages(OpenBlocks(), stats)
    events_of(reasoning, "r1", "First I ", "consider.")

    assert events_of(reasoning, "r2", *again) == []
    assert stats.doubled == len(again)


@pytest.mark.parametrize("again", ["One. Two.", "Two."])
def test_of_several_messages_one_may_come_again_or_all(again: str) -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "One. ")
    events_of(reasoning, "r2", "Two.")

    assert events_of(reasoning, "r3", again) == []


def test_reasoning_that_only_begins_alike_is_told() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "First I consider.")

    assert reasoning.content("r2", "First I ") == []
    assert reasoning.content("r2", "wait.") == [ReasoningDelta("First I wait.")]
    assert reasoning.content("r2", " And") == [ReasoningDelta(" And")]
    assert reasoning.end("r2") == [TextBreak()]


def test_reasoning_that_is_the_beginning_of_earlier_reasoning_is_told() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "First I consider.")

    assert events_of(reasoning, "r2", "First I") == [ReasoningDelta("First I"), TextBreak()]


def test_after_a_result_the_same_words_are_other_thoughts() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "Hm.")
    reasoning.new_round()

    assert events_of(reasoning, "r2", "Hm.") == [ReasoningDelta("Hm."), TextBreak()]


def test_a_repetition_may_go_on_over_a_result() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "Hm. So.")
    reasoning.content("r2", "Hm. ")
    reasoning.new_round()

    assert reasoning.content("r2", "So.") == [ReasoningDelta("Hm. So.")]


def test_reasoning_that_never_ends_is_not_kept_beyond_its_round() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    for _ in range(20):
        reasoning.content("r1", "x" * EARLIER_MAX)
        reasoning.new_round()

    assert len(reasoning._text) <= EARLIER_MAX


def test_of_very_long_reasoning_a_repetition_is_not_noticed() -> None:
    """So nothing is kept of it, and nothing of it is lost."""
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    long = "x" * (EARLIER_MAX // 2 + 1)
    events_of(reasoning, "r1", long, long, long)

    assert events_of(reasoning, "r2", long) == [ReasoningDelta(long), TextBreak()]


def test_a_repetition_that_goes_on_beyond_what_is_kept_is_not_lost() -> None:
    reasoning = ReasoningMessages(OpenBlocks(), FrameStats())
    events_of(reasoning, "r1", "x" * EARLIER_MAX)

    events = events_of(reasoning, "r2", "x" * (EARLIER_MAX // 2), "x" * EARLIER_MAX, "y")

    assert "".join(e.text for e in events if isinstance(e, ReasoningDelta)).endswith("y")
