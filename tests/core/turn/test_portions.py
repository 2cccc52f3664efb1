"""What one frame tells is parted by what each event takes."""

from msgspec import Raw

from turnwire.core.events import (
    Alive,
    Event,
    Phase,
    Question,
    ReasoningDelta,
    TextDelta,
    ToolUpdate,
)
from turnwire.core.turn.portions import EVENTS, PIECE, SIZE, portions


def call(size: int) -> Event:
    raw = Raw(b"x" * size)
    return ToolUpdate(call_id="c", tool_name="t", phase=Phase.COMPLETED, result=raw)


def test_many_small_events_are_parted_by_their_number() -> None:
    told = [Alive()] * (2 * EVENTS + 1)

    assert [len(each) for each in portions(told, split_texts=False)] == [EVENTS, EVENTS, 1]


def test_few_large_events_are_parted_by_their_size() -> None:
    told = [call(SIZE), call(SIZE), Question("q", Raw(b"x" * SIZE)), call(1), Alive()]

    assert [len(each) for each in portions(told, split_texts=False)] == [1, 1, 1, 2]


def test_a_text_is_cut_where_words_are_counted_alone() -> None:
    told: list[Event] = [
        TextDelta("x" * (2 * PIECE + 1)),
        ReasoningDelta("y" * (PIECE + 1)),
        TextDelta("z"),
    ]

    assert list(portions(told, split_texts=False)) == [told]
    pieces = [event for each in portions(told, split_texts=True) for event in each]
    texts = [each for each in pieces if isinstance(each, TextDelta | ReasoningDelta)]
    assert [len(each.text) for each in texts] == [
        PIECE,
        PIECE,
        1,
        PIECE,
        1,
        1,
    ]


def test_nothing_is_one_empty_portion() -> None:
    assert list(portions([], split_texts=True)) == [[]]
