"""The texts of several agents, each told in deltas and then again as a whole.

A whole text adds only what its deltas lacked: all of it, if there were none. Agents of one flow may
tell theirs at the same time, so each has a block of its own.
"""

import enum
import zlib
from typing import Final, TypeAlias

from msgspec import Struct

import turnwire.dialect as td

NODES_MAX: Final = 256
"""Most blocks that are remembered. Of more agents at once, the oldest is forgotten."""


class Kind(enum.Enum):
    TEXT = enum.auto()
    REASONING = enum.auto()


Block: TypeAlias = tuple[Kind, str]
"""The kind of a text, and the node that tells it."""


class _Told(Struct):
    """How much of a block came in deltas: its length in characters, and its checksum."""

    length: int = 0
    checksum: int = 0

    def add(self, delta: str) -> None:
        self.length += len(delta)
        self.checksum = _checksum(delta, self.checksum)

    def begins(self, whole: str) -> bool:
        return len(whole) >= self.length and _checksum(whole[: self.length]) == self.checksum


class Texts:
    """What was told of each block, and which of them are open at the client."""

    def __init__(self, frame_stats: td.FrameStats) -> None:
        self._frame_stats = frame_stats
        self._told: dict[Block, _Told] = {}
        self._current: Block | None = None
        """The block that the last delta was of."""
        self._left: dict[Block, None] = {}
        """The other blocks of the same kind that are open."""
        self._ended: dict[Block, None] = {}
        """Blocks that are open at the client, and whose text is whole."""
        self._speakers: dict[str, None] = {}
        """The nodes that told a text since they began."""

    def interrupt(self) -> None:
        """Something else is shown: that ends all open blocks."""
        self._current = None
        self._left.clear()
        self._ended.clear()

    def begin(self, node: str) -> None:
        """An agent begins: it has told nothing yet."""
        self._speakers.pop(node, None)

    def has_told(self, node: str) -> bool:
        """Whether the agent of this node told a text since it began."""
        return node in self._speakers

    def write(self, block: Block, delta: str) -> list[td.Event]:
        """Return the events of a delta."""
        if not delta:
            return []
        told = self._told.get(block) or _Told()
        td.keep(self._told, block, told, NODES_MAX)
        told.add(delta)
        kind, node = block
        if kind is Kind.TEXT:
            td.keep(self._speakers, node, None, NODES_MAX)
        event = td.TextDelta if kind is Kind.TEXT else td.ReasoningDelta
        return [*self._enter(block), event(delta)]

    def end(self, block: Block, whole: str) -> list[td.Event]:
        """Return the events of a whole text: what its deltas lacked.

        A whole text that contradicts its deltas is counted, and changes nothing.
        """
        told = self._told.get(block) or _Told()
        rest = ""
        if told.begins(whole):
            rest = whole[told.length :]
        else:
            self._frame_stats.count_contradicted(len(whole))
        events = self.write(block, rest)
        self._told.pop(block, None)
        if block == self._current or block in self._left:
            td.keep(self._ended, block, None, NODES_MAX)
        return events

    def _enter(self, block: Block) -> list[td.Event]:
        """Return the events that make this block the one which deltas go into."""
        before, self._current = self._current, block
        events: list[td.Event] = []
        if before is not None and before[0] is not block[0]:
            self._left.clear()
            self._ended.clear()
        elif before is not None and before != block:
            events += self._leave(before, block)
        if block in self._ended:
            del self._ended[block]
            events.append(td.TextBreak())
        return events

    def _leave(self, before: Block, block: Block) -> list[td.Event]:
        switch = td.TextSwitch(left=before[1], entered=block[1])
        if before not in self._ended:
            td.keep(self._left, before, None, NODES_MAX)
            self._left.pop(block, None)
            return [switch]
        del self._ended[before]
        if block not in self._left:
            return [td.TextBreak()]
        del self._left[block]
        return [td.TextBreak(), switch]


def _checksum(text: str, before: int = 0) -> int:
    return zlib.crc32(text.encode(errors="surrogatepass"), before)
