"""Texts in deltas, and again as a whole."""

from typing import Any

import pytest

from turnwire.core.events import ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire.frame_stats import FrameStats
from turnwire.dialects.openai_responses import text
from turnwire.dialects.openai_responses.text import Key, Texts

ONE: Key = (text.TEXT, 0, 0)
TWO: Key = (text.TEXT, 1, 0)
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
