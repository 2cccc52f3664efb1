"""The open blocks of text or of reasoning of one message.

Deltas go into one block, which the translator has. An agent may tell several texts at once: then
the other blocks stay open meanwhile. `LeftBlocks` keeps them, by the keys that the agent gives.
"""

import enum

from turnwire.core.bounds import OPEN_BLOCKS_MAX
from turnwire.core.events import TextSwitch


class Kind(enum.Enum):
    """A kind of block. The value is the letter of its ids: `<turnId>:t0`, `<turnId>:r0`."""

    TEXT = "t"
    REASONING = "r"


class Block:
    """An open block, the `number`-th one of its kind.

    `half` is half of a surrogate pair, kept until the other half arrives.
    """

    __slots__ = ("half", "id", "kind", "number")

    def __init__(self, kind: Kind, turn_id: str, number: int) -> None:
        self.kind = kind
        self.id = f"{turn_id}:{kind.value}{number}"
        self.number = number
        self.half = ""


class LeftBlocks:
    """The open blocks, all of one kind, that deltas do not go into at present."""

    def __init__(self) -> None:
        self._by_key: dict[str, Block] = {}

    @property
    def kind(self) -> Kind | None:
        """The kind of these blocks; None if there are none."""
        return next((block.kind for block in self._by_key.values()), None)

    def switch(self, block: Block | None, event: TextSwitch) -> tuple[Block | None, list[Block]]:
        """Leave `block`, and enter another one.

        Returns the block entered, or None if there is none, and the blocks that end now: the one
        that had the key of the left one, and the oldest one if too many are open.
        """
        ended: list[Block] = []
        if block is not None:
            former = self._by_key.pop(event.left, None)
            if former is not None:
                ended.append(former)
            self._by_key[event.left] = block
        entered = self._by_key.pop(event.entered, None)
        if len(self._by_key) >= OPEN_BLOCKS_MAX:  # the one that is entered would be one more
            oldest = min(self._by_key, key=lambda key: self._by_key[key].number)
            ended.append(self._by_key.pop(oldest))
        return entered, ended

    def take(self, block: Block | None) -> list[Block]:
        """Return all open blocks, of which `block` is one, as they were opened. Keep none."""
        blocks = [*self._by_key.values(), *([] if block is None else [block])]
        self._by_key.clear()
        return sorted(blocks, key=lambda each: each.number)
