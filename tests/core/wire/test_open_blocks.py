"""What tells that texts are told at once, and nothing where one follows another."""

from turnwire.core.bounds import OPEN_BLOCKS_MAX
from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta, TextSwitch
from turnwire.core.wire.open_blocks import OpenBlocks


def written(blocks: OpenBlocks, *block_ids: str) -> list[Event]:
    """The events before deltas of these texts."""
    return [event for each in block_ids for event in blocks.write(TextDelta, each)]


def test_texts_in_a_row_need_no_switch() -> None:
    blocks = OpenBlocks()

    assert written(blocks, "a", "a") == []
    assert blocks.end(TextDelta, "a") == [TextBreak()]
    assert blocks.text_id is None
    assert written(blocks, "b") == []
    assert blocks.text_id == "b"


def test_a_text_that_goes_on_beside_another_is_entered_again() -> None:
    blocks = OpenBlocks()

    assert written(blocks, "a", "b", "a") == [TextSwitch("a", "b"), TextSwitch("b", "a")]
    assert blocks.text_id == "a"
    assert blocks.end(TextDelta, "a") == [TextBreak()]
    assert written(blocks, "c") == []
    assert written(blocks, "b") == [TextSwitch("c", "b")]


def test_after_the_end_of_one_another_that_is_open_is_entered() -> None:
    blocks = OpenBlocks()
    written(blocks, "a", "b")
    blocks.end(TextDelta, "b")

    assert written(blocks, "a") == [TextSwitch("", "a")]


def test_a_text_may_end_while_another_goes_on() -> None:
    blocks = OpenBlocks()
    written(blocks, "a", "b")

    assert blocks.end(TextDelta, "a") == [
        TextSwitch("b", "a"),
        TextBreak(),
        TextSwitch("", "b"),
    ]
    assert blocks.end(TextDelta, "a") == []
    assert (blocks.text_id, written(blocks, "b")) == ("b", [])


def test_the_last_of_several_ends() -> None:
    blocks = OpenBlocks()
    written(blocks, "a", "b")
    blocks.end(TextDelta, "b")

    assert blocks.end(TextDelta, "a") == [TextSwitch("", "a"), TextBreak()]


def test_the_other_kind_ends_all() -> None:
    blocks = OpenBlocks()
    written(blocks, "a", "b")

    assert blocks.write(ReasoningDelta, "a") == []
    assert (blocks.kind, blocks.text_id) == (ReasoningDelta, None)
    assert blocks.end(TextDelta, "a") == []
    assert written(blocks, "b") == []
    assert written(blocks, "a") == [TextSwitch("b", "a")]


def test_all_end_in_the_order_in_which_they_began() -> None:
    blocks = OpenBlocks()
    assert blocks.end_all() == []
    written(blocks, "a", "b", "c")

    ends = [TextSwitch("c", "a"), TextBreak(), TextSwitch("", "c")]
    ends += [TextSwitch("c", "b"), TextBreak(), TextSwitch("", "c")]
    assert blocks.end_all() == [*ends, TextBreak()]
    assert written(blocks, "a") == []


def test_when_all_is_over_nothing_is_open() -> None:
    blocks = OpenBlocks()
    written(blocks, "a", "b")
    blocks.clear()

    assert (blocks.kind, blocks.text_id, written(blocks, "b")) == (None, None, [])


def test_of_too_many_the_oldest_is_forgotten() -> None:
    blocks = OpenBlocks()
    written(blocks, *map(str, range(OPEN_BLOCKS_MAX + 1)))

    assert blocks.end(TextDelta, "0") == []
    assert TextBreak() in blocks.end(TextDelta, "1")
