"""The other turns of a session: a socket hears them all, and ours waits behind them."""

from typing import ClassVar, TypeAlias

Channel: TypeAlias = tuple[str, str]
"""Its type and its id."""


class Others:
    """The other turns of the session that are known to be open, and their channels.

    A channel of None is not known, so it may be ours.
    """

    _MAX: ClassVar = 256

    def __init__(self) -> None:
        self._open: dict[str, Channel | None] = {}
        self._closed: dict[str, None] = {}
        self._nameless = False

    def __len__(self) -> int:
        return len(self._open) + self._nameless

    def busy(self) -> None:
        """The agent is busy with a turn that it does not name."""
        self._nameless = True

    def saw(self, turn_id: str, channel: Channel | None) -> None:
        """A frame of this turn came; one that comes late does not open it again."""
        if turn_id not in self._open and turn_id not in self._closed:
            if channel is None:
                self._nameless = False  # it began before we came: this is its name
            if len(self._open) >= self._MAX:
                del self._open[next(iter(self._open))]
            self._open[turn_id] = channel

    def closed(self, turn_id: str) -> None:
        if self._open.pop(turn_id, self) is self and turn_id not in self._closed:
            self._nameless = False  # so this was the one without a name
        if len(self._closed) >= self._MAX:
            del self._closed[next(iter(self._closed))]
        self._closed[turn_id] = None

    def none(self) -> None:
        """The agent is idle."""
        self._open.clear()
        self._nameless = False

    def on(self, channel: Channel) -> bool:
        """Whether one may be open on this channel."""
        return self._nameless or any(c is None or c == channel for c in self._open.values())
