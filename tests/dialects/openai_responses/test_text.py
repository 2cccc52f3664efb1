"""Texts in deltas, and again as a whole."""

from typing import Any

import pytest

from turnwire.core.events import ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import text
from turnwire.dialects.openai_responses.text import TEXT, Key, Texts

ONE: Key = (TEXT, 0, 0)
TWO: Key = (TEXT, 1, 0)
NO: Key = (text.REFUSAL, 0, 0)
WHY: Key = (text.SUMMARY, 0, 0)


def test_each_text_has_a_block_of_its_own() -> None:
    texts = Texts(FrameStats())

    assert texts.write(ONE, "a") == [TextDelta("a")]
    assert texts.write(ONE, "") == []
    assert texts.write(ONE, "b") == [TextDelta("b")]
    assert texts.write(TWO, "c") == [TextBreak(), TextDelta("c")]
    assert texts.write(WHY, "d") == [TextBreak(), ReasoningDelta("d")]
    assert not texts.has_refusal
    assert texts.write(NO, "e") == [TextBreak(), TextDelta("e")]
    assert texts.has_refusal
    texts.interrupt()
    assert texts.write(NO, "f") == [TextDelta("f")]


@pytest.mark.parametrize(
    ("deltas", "whole", "added", "contradicted"),
    [
        (["a", "b"], "ab", [], False),
        (["a"], "abc", [TextDelta("bc")], False),
        ([], "abc", [TextDelta("abc")], False),
        ([], "", [], False),
        (["abc"], "ab", [], True),
        (["xb"], "abc", [], True),
        (["abd"], "abc", [], True),
        (["\ud83d", "\ude00"], "\U0001f600", [], True),
    ],
)
def test_a_whole_text_adds_what_its_deltas_lacked(
    deltas: list[str], whole: str, added: list[Any], *, contradicted: bool
) -> None:
    stats = FrameStats()
    texts = Texts(stats)
    for delta in deltas:
        texts.write(ONE, delta)

    assert texts.end(ONE, whole) == added
    assert texts.end(ONE, whole) == []
    assert ("contradicted text" in stats.left_out) == contradicted


def test_the_texts_of_the_next_response_are_others() -> None:
    texts = Texts(FrameStats())
    texts.write(ONE, "a")
    texts.next_response()

    assert texts.current is None
    assert texts.end(ONE, "a") == [TextDelta("a")]
    assert texts.has_text


def test_a_part_is_another_block_only_behind_the_end_of_the_one_before() -> None:
    """Some servers count the index of the part on with each delta."""
    texts = Texts(FrameStats())
    new = [each for part, word in enumerate("abc") for each in texts.write((TEXT, 0, part), word)]

    assert new == [TextDelta("a"), TextDelta("b"), TextDelta("c")]
    assert texts.end((TEXT, 0, 3), "abc") == []
    assert texts.write((TEXT, 0, 4), "d") == [TextBreak(), TextDelta("d")]
    assert texts.end_item(0, [(TEXT, "abc"), (TEXT, "d")]) == []
    assert texts.end_item(0, [(TEXT, "abcd")], is_repeated=True) == []


def test_parts_of_a_summary_are_blocks() -> None:
    texts = Texts(FrameStats())
    texts.write((text.SUMMARY, 0, 0), "a")

    assert texts.write((text.SUMMARY, 0, 1), "b") == [TextBreak(), ReasoningDelta("b")]


def test_parts_of_an_item_are_known_whatever_their_indexes_are() -> None:
    """The index of vLLM goes on from the reasoning to the text of another item."""
    texts = Texts(FrameStats())
    texts.write((text.REASONING, 1, 0), "Hm")

    assert texts.write((TEXT, 2, 1), "Hel") == [TextBreak(), TextDelta("Hel")]
    assert texts.end((TEXT, 2, 1), "Hello") == [TextDelta("lo")]
    assert texts.end_item(2, [(TEXT, "Hello")]) == []
    assert texts.end_item(1, [(text.REASONING, "Hm")]) == []


@pytest.mark.parametrize(
    ("ends", "new"),
    [
        ([(0, "a"), (0, "a")], ["a"]),
        ([(0, "a"), (1, "b")], ["a", "|", "b"]),
        ([(0, "a"), (1, "ab")], ["a", "|", "ab"]),
        ([(0, "a"), (0, "ab")], ["a", "b"]),
        ([(0, "a"), (0, "c")], ["a", "?"]),
    ],
)
def test_ends_without_deltas(ends: list[tuple[int, str]], new: list[str]) -> None:
    stats = FrameStats()
    texts = Texts(stats)
    found = [each for part, whole in ends for each in texts.end((TEXT, 0, part), whole)]

    words = ["|" if isinstance(each, TextBreak) else getattr(each, "text", "") for each in found]
    assert words + ["?"] * len(stats.left_out) == new


def test_an_end_says_all_again_or_what_came_since_the_last_one() -> None:
    texts = Texts(FrameStats())
    for whole in ("ab", "abcd"):
        texts.write(ONE, whole[-2])
        assert texts.end(ONE, whole) == [TextDelta(whole[-1])]
    texts.write(ONE, "e")

    assert texts.end(ONE, "ef") == [TextDelta("f")]
    assert texts.end_item(0, [(TEXT, "abcdefg")]) == [TextDelta("g")]


def test_an_item_adds_parts_of_both_kinds_in_their_order() -> None:
    texts = Texts(FrameStats())
    texts.write(TWO, "So")
    parts = [(TEXT, "So: "), (text.REFUSAL, "No."), (TEXT, "Sorry.")]

    assert texts.end_item(1, parts) == [
        *(TextDelta(": "), TextBreak(), TextDelta("No."), TextBreak(), TextDelta("Sorry.")),
    ]
    assert texts.end_item(1, parts) == []


def test_an_item_that_contradicts_its_deltas_is_counted() -> None:
    stats = FrameStats()
    texts = Texts(stats)
    texts.write(ONE, "abc")

    assert texts.end_item(0, [(TEXT, "ax"), (text.REFUSAL, "No.")]) == [
        *(TextBreak(), TextDelta("No.")),
    ]
    assert (stats.left_out, stats.left_out_bytes) == ({"contradicted text": 1}, 2)


def test_another_item_at_an_index_that_is_done_is_another() -> None:
    stats = FrameStats()
    texts = Texts(stats)
    for word in ("a", "b", "c"):
        texts.write(ONE, word)
        assert texts.end_item(0, [(TEXT, word)]) == []

    for word in ("a", "b", "c"):
        assert texts.end_item(7, [(TEXT, word)], is_repeated=True) == []
    assert stats.left_out == {}


def test_reasoning_that_is_told_in_two_ways_is_shown_once() -> None:
    texts = Texts(FrameStats())
    texts.write(WHY, "hm")

    assert texts.end((text.REASONING, 0, 0), "hm") == []
    assert texts.end_item(0, [(text.REASONING, "hm")]) == []
    assert texts.end_item(0, [(text.SUMMARY, "hm")]) == []
    assert texts.end_item(1, [(text.REASONING, "other")]) == [TextBreak(), ReasoningDelta("other")]


def test_the_text_in_use_is_the_last_that_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "TEXTS_MAX", 2)
    texts = Texts(FrameStats())
    texts.write(ONE, "a")
    for index in range(1, 5):
        texts.write((TEXT, index, 0), "x")
        texts.write(ONE, "a")

    assert texts.end(ONE, "aaaaa") == []
    assert len(texts._written) == 2
