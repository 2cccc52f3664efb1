"""Which blocks of text and of reasoning of a response are open, by the agent's ids.

For wires that name the block of each delta: an agent may tell several texts at once, as those of
two subagents. The methods return the events that tell so: none where one block follows another.
"""

from typing import TypeAlias

from turnwire.core.bounds import OPEN_BLOCKS_MAX, keep
from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta, TextSwitch

BlockKind: TypeAlias = type[TextDelta | ReasoningDelta]


class OpenBlocks:
    """The blocks whose end the agent has not told. All are of one kind: the other kind ends them.

    `kind` is that of the last delta; None before the first one.
    """

    def __init__(self) -> None:
        self.kind: BlockKind | None = None
        self._current: str | None = None
        """The block of the last delta; None if it ended."""
        self._open: dict[str, None] = {}
        """The open blocks, in the order in which they began."""

    @property
    def text_id(self) -> str | None:
        """The text that the next delta can go into without any other event; None if none can."""
        return self._current if self.kind is TextDelta else None

    def write(self, kind: BlockKind, block_id: str) -> list[Event]:
        """Return the events before a delta of this block."""
        if kind is not self.kind:
            self.kind, self._current = kind, None
            self._open.clear()
        if block_id == self._current:
            return []
        left, self._current = self._current, block_id
        is_new = block_id not in self._open
        keep(self._open, block_id, None, OPEN_BLOCKS_MAX)
        return [] if left is None and is_new else [TextSwitch(left or "", block_id)]

    def end(self, kind: BlockKind, block_id: str) -> list[Event]:
        """Return the events of the end of this block; none if it is not open."""
        if kind is not self.kind or block_id not in self._open:
            return []
        del self._open[block_id]
        left = self._current
        if block_id == left:
            self._current = None
            return [TextBreak()]
        to_it = TextSwitch(left or "", block_id)
        return [to_it, TextBreak(), *([] if left is None else [TextSwitch("", left)])]

    def end_all(self) -> list[Event]:
        """Return the events of the ends of all blocks, in the order in which they began."""
        kind, block_ids = self.kind, list(self._open)
        return [] if kind is None else [e for each in block_ids for e in self.end(kind, each)]

    def clear(self) -> None:
        """All blocks are over, and no event tells it."""
        self.kind = self._current = None
        self._open.clear()
