"""The parts that the agent told of one turn, counted as the agent counts them.

An attempt that was lost is taken back from a position on (`PartsRetracted`). The gateway keeps no
parts, so it counts them. The blocks on the client's wire are more: a tool that ends in the middle
of a text splits the text there, but not in the agent's list.

Where the count may differ from the agent's, it is the lower one: then a client is told that an
attempt ended, and nothing that stands is taken from it.
"""

from turnwire.core.ui_stream.blocks import Kind


class PartCount:
    """The count of the parts that stand, and where the current step began."""

    __slots__ = ("_block", "count", "holds_lasting", "step_since")

    def __init__(self) -> None:
        self.count = 0
        self.step_since = 0
        """The position of the first part of the step."""
        self.holds_lasting = False
        """Whether the step has a part that a later chunk may change: a question, an approval, or
        data with an id. Such a step is not reset."""
        self._block: Kind | None = None
        """The kind of the last part, if more of it may come."""

    @property
    def is_step_empty(self) -> bool:
        """Whether nothing was told since the step began."""
        return self.count == self.step_since and not self.holds_lasting

    def add(self) -> int:
        """Count a part that is no block. Returns its position."""
        self._block = None
        self.count += 1
        return self.count - 1

    def add_lasting(self) -> None:
        """Count a part that a later chunk may change."""
        self.holds_lasting = True
        self.add()

    def add_block(self, kind: Kind) -> None:
        """Count a block of text or of reasoning, unless it goes on with the last part."""
        if kind is not self._block:
            self.add()
            self._block = kind

    def end_block(self) -> int:
        """Note that text which follows is a part of its own. Returns its position."""
        self._block = None
        return self.count

    def begin_step(self) -> None:
        """Note that the parts which follow are of another step."""
        self.step_since = self.count
        self.holds_lasting = False
        self._block = None

    def start_over(self) -> None:
        """Count from 0 again, in a step that has parts which are never taken back."""
        self.count = self.step_since = 0
        self.holds_lasting = True
        self._block = None

    def retract(self, since: int) -> None:
        """Forget the parts from the position `since` on."""
        self.count = min(self.count, since)
        self._block = None
