from random import Random

from support.seeds import each_seed
from turnwire.core.events import TextDelta
from turnwire.core.turn_log.entries import pack_texts, read
from turnwire.relay.turn_log.blocks import BLOCK_BYTES, Blocks, Place


def add(blocks: Blocks, *texts: str) -> None:
    blocks.add(pack_texts(texts), len(texts))


def texts(data: bytes | None) -> list[str]:
    entries = [] if data is None else read(data)
    assert all(isinstance(entry, TextDelta) for entry in entries)
    return [entry.text for entry in entries if isinstance(entry, TextDelta)]


def test_a_place_moves_with_what_was_read() -> None:
    blocks, place = Blocks(), Place()
    assert blocks.next_frame(place) is None

    add(blocks, "a", "b")
    assert texts(blocks.next_frame(place)) == ["a", "b"]
    assert blocks.next_frame(place) is None

    add(blocks, "c")
    assert texts(blocks.next_frame(place)) == ["c"]
    assert texts(blocks.next_frame(Place())) == ["a", "b", "c"]


def test_a_block_that_was_read_while_it_was_filled() -> None:
    blocks, place = Blocks(), Place()
    add(blocks, "a")
    blocks.next_frame(place)
    blocks.seal()
    blocks.seal()
    assert blocks.next_frame(place) is None

    add(blocks, "b")
    assert texts(blocks.next_frame(place)) == ["b"]


def test_a_long_entry_is_a_block_of_its_own() -> None:
    blocks = Blocks()
    add(blocks, "a")
    add(blocks, "x" * BLOCK_BYTES)
    add(blocks, "b")

    assert [list(map(len, texts(data))) for data in blocks.frames(Place())] == [
        [1],
        [BLOCK_BYTES],
        [1],
    ]


@each_seed(30)
def test_every_reader_gets_all_of_it(*, seed: int) -> None:
    dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
    blocks = Blocks()
    places = [Place() for _ in range(3)]
    read_by: list[list[str]] = [[] for _ in places]
    added = []
    for number in range(400):
        some = [f"{number} " * dice.randrange(60) for _ in range(1 + dice.randrange(3))]
        added += some
        add(blocks, *some)
        if dice.random() < 0.1:
            blocks.seal()
        reader = dice.randrange(3)
        if dice.random() < 0.5:
            read_by[reader] += texts(blocks.next_frame(places[reader]))
    for reader, place in enumerate(places):
        for data in blocks.frames(place):
            assert len(data) < BLOCK_BYTES + 3 * 60 * 6
            read_by[reader] += texts(data)

    assert read_by == [added] * 3


def test_what_nobody_needs_is_forgotten() -> None:
    blocks, behind, ahead = Blocks(), Place(), Place()
    for number in range(4):
        add(blocks, str(number))
        blocks.seal()
    for _ in range(3):
        blocks.next_frame(ahead)
    blocks.next_frame(behind)

    blocks.forget(min(map(blocks.first_needed, (behind, ahead))))
    assert blocks.held_bytes == 6
    assert texts(blocks.next_frame(behind)) == ["1"]
    assert texts(blocks.next_frame(ahead)) == ["3"]


def test_a_reader_needs_no_block_that_it_has() -> None:
    blocks, place = Blocks(), Place()
    add(blocks, "a")
    blocks.next_frame(place)
    assert blocks.first_needed(place) == 0

    blocks.seal()
    assert blocks.first_needed(place) == 1
    blocks.forget(None)
    assert blocks.held_bytes == 0
    assert blocks.first_needed(place) == 0
    add(blocks, "b")
    assert texts(blocks.next_frame(place)) == ["b"]


def test_what_a_reader_lacks() -> None:
    blocks, place = Blocks(), Place()
    add(blocks, "a")
    assert blocks.unread_bytes(place) == 2
    blocks.next_frame(place)
    assert blocks.unread_bytes(place) == 0

    add(blocks, "bc")
    blocks.seal()
    add(blocks, "d")
    assert blocks.unread_bytes(place) == 3 + 2
    for _ in blocks.frames(place):
        pass
    assert blocks.unread_bytes(place) == 0
