"""Blocks of text and of reasoning: which are open, and what they are called.

The wires name their blocks differently, by an index, by two, by an id, or not at all. A decoder
says which block it means by a key of its own, and gets the events.
"""

from collections.abc import Callable, Hashable
from typing import Final, Literal

from turnwire_agent.llm.events import (
    Event,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
)

Kind = Literal["text", "reasoning"]

_START: Final[dict[Kind, Callable[[str], Event]]] = {
    "text": TextStart,
    "reasoning": ReasoningStart,
}
_DELTA: Final[dict[Kind, Callable[[str, str], Event]]] = {
    "text": TextDelta,
    "reasoning": ReasoningDelta,
}
_END: Final[dict[Kind, Callable[[str], Event]]] = {"text": TextEnd, "reasoning": ReasoningEnd}


class Blocks:
    """The blocks of one answer. What it holds is bounded by the bytes of the answer."""

    def __init__(self) -> None:
        self._open: dict[Hashable, tuple[Kind, str]] = {}
        self._begun = 0

    def start(self, kind: Kind, key: Hashable) -> list[Event]:
        """Begin a block that is not open."""
        self._open[key] = (kind, str(self._begun))
        self._begun += 1
        return [_START[kind](self._open[key][1])]

    def delta(self, kind: Kind, key: Hashable, text: str) -> list[Event]:
        """More of a block, which begins if it is not open. No text is no event."""
        if not text:
            return []
        events = [] if key in self._open else self.start(kind, key)
        events.append(_DELTA[kind](self._open[key][1], text))
        return events

    def end(self, key: Hashable) -> list[Event]:
        """A block is whole, if it is open."""
        if key not in self._open:
            return []
        kind, block_id = self._open.pop(key)
        return [_END[kind](block_id)]

    def end_all(self) -> list[Event]:
        """All blocks are whole, in the order of their beginnings."""
        return [event for key in list(self._open) for event in self.end(key)]
