"""The entries of one turn in memory, in blocks, and places in them."""

import itertools
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from turnwire.core.turn_log.entries import frame

BLOCK_BYTES: Final = 16_384
"""A block of this size is complete. A reader takes at most one block at a time."""


class Place(Struct):
    """How far a reader is: the number of a block, and how much of that block the reader has."""

    block: int = 0
    offset: int = 0
    count: int = 0


class _Block(Struct, frozen=True):
    packed: bytes
    count: int


class Blocks:
    """Entries in a row."""

    __slots__ = ("_complete", "_first", "_open", "_open_count", "held_bytes")

    def __init__(self) -> None:
        self.held_bytes = 0
        self._complete: list[_Block] = []  # an empty deque takes 760 bytes, a list 56
        self._first = 0
        """The number of the first block that is kept."""
        self._open = bytearray()
        self._open_count = 0

    def add(self, packed: bytes, count: int) -> None:
        """Add packed entries in a row."""
        size = len(packed)
        if size >= BLOCK_BYTES:
            self.seal()
        self._open += packed
        self._open_count += count
        self.held_bytes += size
        if len(self._open) >= BLOCK_BYTES:
            self.seal()

    def seal(self) -> None:
        """Complete the block that is being filled."""
        if self._open_count:
            self._complete.append(_Block(bytes(self._open), self._open_count))
            self._open = bytearray()
            self._open_count = 0

    def next_frame(self, place: Place) -> bytes | None:
        """Return the next frame from this place on, and move the place. None: there is no more."""
        if place.block < self._first:  # the reader had all that was forgotten
            place.block, place.offset, place.count = self._first, 0, 0
        index = place.block - self._first
        if index < len(self._complete):
            block = self._complete[index]
            packed, count = block.packed[place.offset :], block.count - place.count
            place.block, place.offset, place.count = place.block + 1, 0, 0
            # A reader may have taken all of a block before the block was complete.
            return frame(packed, count) if count else self.next_frame(place)
        packed, count = bytes(self._open[place.offset :]), self._open_count - place.count
        place.offset, place.count = len(self._open), self._open_count
        return frame(packed, count) if count else None

    def frames(self, place: Place) -> Iterator[bytes]:
        """Yield the frames from this place on, and move the place."""
        while (data := self.next_frame(place)) is not None:
            yield data

    def first_needed(self, place: Place) -> int:
        """Return the number of the first block that a reader at this place needs."""
        index = place.block - self._first
        if 0 <= index < len(self._complete) and self._complete[index].count == place.count:
            return place.block + 1
        return place.block

    def unread_bytes(self, place: Place) -> int:
        """Return how many bytes a reader at this place lacks."""
        behind = itertools.islice(self._complete, max(0, place.block - self._first), None)
        return sum(len(block.packed) for block in behind) + len(self._open) - place.offset

    def forget(self, until: int | None) -> None:
        """Forget the blocks before the block of this number; None: all entries so far."""
        if until is None:
            until = self._first + len(self._complete)
        count = max(0, min(until - self._first, len(self._complete)))
        self.held_bytes -= sum(len(block.packed) for block in self._complete[:count])
        del self._complete[:count]
        self._first += count
