"""The texts of one message, by the index of their block.

The ends of blocks come late: that of a text behind the calls that follow it. So no end closes
anything: it adds what the deltas lacked, and a delta of another block begins another one.
"""

import zlib
from typing import Final

from msgspec import Struct

import turnwire.dialect as td

BLOCKS_MAX: Final = 256
"""Most blocks of a message that are remembered; of more, the oldest is forgotten."""


class _Streamed(Struct):
    """How much of a block was told: its length in characters, and its checksum."""

    length: int = 0
    checksum: int = 0

    def add(self, delta: str) -> None:
        self.length += len(delta)
        self.checksum = _checksum(delta, self.checksum)

    def begins(self, whole: str) -> bool:
        return len(whole) >= self.length and _checksum(whole[: self.length]) == self.checksum


class Texts:
    """The blocks of the message that is told now. `frame_stats` counts what contradicts deltas."""

    def __init__(self, frame_stats: td.FrameStats) -> None:
        self._frame_stats = frame_stats
        self._streamed: dict[int, _Streamed] = {}
        self._last: int | None = None
        """The block of the last delta."""
        self._breaks = False
        """Whether the next delta begins a block, since it is of another message."""
        self.has_text = False
        """Whether this message showed a text."""

    def begin_message(self) -> None:
        """Another message begins: its indexes are others."""
        self._streamed.clear()
        self._last = None
        self._breaks = True
        self.has_text = False

    def write(self, index: int, delta: str, *, is_reasoning: bool) -> list[td.Event]:
        """Return the events of a delta."""
        if not delta:
            return []
        streamed = self._streamed.get(index) or _Streamed()
        td.keep(self._streamed, index, streamed, BLOCKS_MAX)
        streamed.add(delta)
        self.has_text = self.has_text or not is_reasoning
        breaks = self._breaks or self._last not in {None, index}
        self._last, self._breaks = index, False
        text = td.ReasoningDelta(delta) if is_reasoning else td.TextDelta(delta)
        return [td.TextBreak(), text] if breaks else [text]

    def end(self, index: int, whole: str, *, is_reasoning: bool) -> list[td.Event]:
        """Return the events of a whole text: what its deltas lacked.

        A text that is shorter, or contradicts its deltas, is counted, and changes nothing.
        """
        streamed = self._streamed.get(index) or _Streamed()
        if streamed.begins(whole):
            return self.write(index, whole[streamed.length :], is_reasoning=is_reasoning)
        self._frame_stats.count_contradicted(len(whole))
        return []


def _checksum(text: str, before: int = 0) -> int:
    return zlib.crc32(text.encode(errors="surrogatepass"), before)
