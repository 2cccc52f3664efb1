"""Texts that come in deltas and whole, of several agents at once."""

import turnwire.dialect as td
from open_harness_dialect.texts import Block, Kind, Texts

A: Block = (Kind.TEXT, "a")
B: Block = (Kind.TEXT, "b")
THOUGHT: Block = (Kind.REASONING, "a")


def blank() -> tuple[Texts, td.FrameStats]:
    stats = td.FrameStats()
    return Texts(stats), stats


def test_a_block_goes_on_until_its_text_is_whole() -> None:
    texts, _ = blank()

    assert texts.write(A, "one ") == [td.TextDelta("one ")]
    assert texts.write(A, "two") == [td.TextDelta("two")]
    assert texts.end(A, "one two three") == [td.TextDelta(" three")]
    assert texts.write(A, "next") == [td.TextBreak(), td.TextDelta("next")]
    assert texts.end(A, "next") == []


def test_a_whole_text_that_says_another_is_counted() -> None:
    texts, stats = blank()
    texts.write(A, "one")

    assert texts.end(A, "two") == []
    assert texts.end(A, "more") == [td.TextBreak(), td.TextDelta("more")]
    assert sum(stats.left_out.values()) == 1


def test_two_agents_that_speak_at_once_have_a_block_each() -> None:
    texts, _ = blank()
    texts.write(A, "a1 ")

    assert texts.write(B, "b1 ") == [td.TextSwitch("a", "b"), td.TextDelta("b1 ")]
    assert texts.write(A, "a2") == [td.TextSwitch("b", "a"), td.TextDelta("a2")]
    assert texts.end(B, "b1 ") == []
    assert texts.end(A, "a1 a2") == []
    assert texts.write(B, "b2") == [
        td.TextBreak(),
        td.TextSwitch("a", "b"),
        td.TextBreak(),
        td.TextDelta("b2"),
    ]


def test_an_agent_that_speaks_after_another_begins_a_block() -> None:
    texts, _ = blank()
    texts.end(A, "a")

    assert texts.end(B, "b") == [td.TextBreak(), td.TextDelta("b")]


def test_reasoning_and_what_is_shown_between_end_the_open_blocks() -> None:
    texts, _ = blank()
    texts.write(A, "a1 ")

    assert texts.write(THOUGHT, "hm") == [td.ReasoningDelta("hm")]
    assert texts.write(B, "b1 ") == [td.TextDelta("b1 ")]
    texts.interrupt()
    assert texts.end(B, "b1 b2") == [td.TextDelta("b2")]


def test_the_result_of_an_agent_is_no_news_if_it_told_a_text() -> None:
    texts, _ = blank()
    texts.write(THOUGHT, "hm")
    assert not texts.has_told("a")

    texts.write(A, "a")
    assert texts.has_told("a")
    texts.begin("a")
    assert not texts.has_told("a")


def test_half_of_a_surrogate_pair_is_told_as_it_came() -> None:
    texts, _ = blank()

    assert texts.write(A, "\ud83d") == [td.TextDelta("\ud83d")]
    assert texts.end(A, "\ud83d\ude00") == [td.TextDelta("\ude00")]
