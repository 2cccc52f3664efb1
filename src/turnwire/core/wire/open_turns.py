"""The open turns of a session that are not ours, as far as frames show them.

An agent sends the frames of all turns to every socket, and may say that it is busy without the id
of the turn. What else a frame tells of a turn differs by wire, and so does what a dialect concludes
from it: a dialect has a subclass.
"""

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from turnwire.core.bounds import keep

Turn = TypeVar("Turn")
"""What a dialect keeps of an open turn, such as its channel."""


class OpenTurns(Generic[Turn]):
    """The turns of other prompts that are open, by id."""

    KEPT_MAX: ClassVar = 256

    def __init__(self) -> None:
        self._turns: dict[str, Turn] = {}
        self._closed: dict[str, None] = {}
        """Turns that are over, by id: a late frame does not open a turn again."""
        self._has_unnamed = False
        """Whether the agent is busy with a turn, and did not send its id."""

    def turn_closed(self, turn_id: str) -> None:
        """This turn is over. If its id is new, it was the turn that the agent did not name."""
        if self._turns.pop(turn_id, None) is None and turn_id not in self._closed:
            self._has_unnamed = False
        self._ignore(turn_id)

    def _ignore(self, turn_id: str) -> None:
        """From now on, no frame opens this turn."""
        keep(self._closed, turn_id, None, self.KEPT_MAX)

    def _is_known(self, turn_id: str) -> bool:
        """Whether this turn is open, or over."""
        return turn_id in self._turns or turn_id in self._closed

    def _put(self, turn_id: str, turn: Turn) -> None:
        """Add an open turn, or replace what is kept of it."""
        keep(self._turns, turn_id, turn, self.KEPT_MAX)

    def _close_matching(self, matches: Callable[[Turn], bool]) -> None:
        for turn_id in [turn_id for turn_id, turn in self._turns.items() if matches(turn)]:
            self.turn_closed(turn_id)
