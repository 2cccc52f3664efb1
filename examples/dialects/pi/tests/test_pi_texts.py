"""Texts that come in deltas and whole, by the index of their block."""

import turnwire.dialect as td
from pi_dialect.texts import Texts
from played import Played


def blank() -> tuple[Texts, td.FrameStats]:
    stats = td.FrameStats()
    return Texts(stats), stats


def test_a_whole_text_tells_what_its_deltas_lacked() -> None:
    texts, stats = blank()

    assert texts.write(0, "one ", is_reasoning=False) == [td.TextDelta("one ")]
    assert texts.end(0, "one two", is_reasoning=False) == [td.TextDelta("two")]
    assert texts.end(0, "one two", is_reasoning=False) == []
    assert not stats.left_out


def test_a_text_that_is_shorter_or_another_one_is_counted() -> None:
    texts, stats = blank()
    texts.write(0, "one ", is_reasoning=False)

    assert texts.end(0, "on", is_reasoning=False) == []
    assert texts.end(0, "two three", is_reasoning=False) == []
    assert sum(stats.left_out.values()) == 2


def test_a_block_ends_where_another_one_begins() -> None:
    texts, _ = blank()
    texts.write(0, "Hm.", is_reasoning=True)

    assert texts.write(1, "a", is_reasoning=False) == [td.TextBreak(), td.TextDelta("a")]
    assert texts.write(1, "b", is_reasoning=False) == [td.TextDelta("b")]
    assert texts.write(0, "So.", is_reasoning=True) == [td.TextBreak(), td.ReasoningDelta("So.")]
    texts.begin_message()
    assert texts.write(0, "", is_reasoning=False) == []
    assert texts.write(0, "c", is_reasoning=False) == [td.TextBreak(), td.TextDelta("c")]


def test_a_message_without_deltas_is_told_by_its_end() -> None:
    played = Played().begun()
    played.start([{"type": "text", "text": "not yet"}])
    played.end(
        {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Well."}, {"type": "odd"}
    )

    assert [each.text for each in played.of(td.ReasoningDelta)] == ["Hm."]
    assert [each.text for each in played.of(td.TextDelta)] == ["Well."]


def test_a_content_that_cannot_be_read_tells_nothing() -> None:
    played = Played().begun()
    for content in (7, [{"type": 7}, {"type": "text", "text": 7}], "a text alone"):
        message = {"role": "assistant", "content": content, "stopReason": "stop"}
        played.event("message_start", message=message)
        played.event("message_end", message=message)

    assert [each.text for each in played.of(td.TextDelta)] == ["a text alone"]
