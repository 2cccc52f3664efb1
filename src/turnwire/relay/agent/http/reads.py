"""How much of one socket read is processed in one go: its lines take time, and its bytes little."""

from collections.abc import Iterator
from typing import Final

SHORT_BYTES: Final = 8_192
"""A read of at most this size is processed at once."""

_QUICK_BYTES: Final = 32_768
_QUICK_LINES: Final = 64

PIECE_BYTES: Final = 65_536
"""Bytes of a longer read that are parsed in one step."""

_PIECE_LINES: Final = 4_096
_DENSE_PIECE_BYTES: Final = 16_384


def is_quick(data: bytes) -> bool:
    """Whether a longer read is processed at once too, as most of its bytes are a few long events.

    Such as the events of the framework behind an agent, which some servers repeat for debugging.
    """
    if len(data) > _QUICK_BYTES:
        return False
    end = -1
    for _ in range(_QUICK_LINES):  # to count all lines takes five times as long, if they are few
        end = data.find(b"\n", end + 1)
        if end < 0:
            return True
    return False


def pieces(data: bytes) -> Iterator[bytes]:
    """Split a read into pieces, each of which is parsed in one step. Many lines make one short."""
    begin = 0
    while begin < len(data):
        piece = data[begin : begin + PIECE_BYTES]
        if piece.count(b"\n") > _PIECE_LINES:
            piece = piece[:_DENSE_PIECE_BYTES]
        yield piece
        begin += len(piece)
