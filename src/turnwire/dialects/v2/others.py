"""The other turns of a session: a socket hears them all, and ours waits behind them."""

from typing import ClassVar, Final, TypeAlias

Channel: TypeAlias = tuple[str, str]
"""Its type and its id."""

DEFAULT_CHANNEL: Final[Channel] = ("web", "default")
"""What a `message.create` without a channel means."""


class Others:
    """The other turns of the session that are known to be open, by id.

    Of each its channel and the id of its prompt. A channel of None is not
    known, so it may be ours.
    """

    _MAX: ClassVar = 256

    def __init__(self) -> None:
        self._open: dict[str, tuple[Channel | None, str | None]] = {}
        self._closed: dict[str, None] = {}
        self._nameless = False
        self.seen = False
        """Whether one was ever open."""

    def __len__(self) -> int:
        return len(self._open) + self._nameless

    def busy(self) -> None:
        """The agent is busy with a turn that it does not name."""
        self._nameless = self.seen = True

    def saw(
        self, turn_id: str, channel: Channel | None = None, prompt_id: str | None = None
    ) -> None:
        """A frame of this turn came; one that comes late does not open it again."""
        if turn_id not in self._open and turn_id not in self._closed:
            if channel is None:
                self._nameless = False  # it began before we came: this is its name
            if len(self._open) >= self._MAX:
                del self._open[next(iter(self._open))]
            self._open[turn_id] = (channel, prompt_id)
            self.seen = True

    def closed(self, turn_id: str) -> None:
        if self._open.pop(turn_id, self) is self and turn_id not in self._closed:
            self._nameless = False  # so this was the one without a name
        if len(self._closed) >= self._MAX:
            del self._closed[next(iter(self._closed))]
        self._closed[turn_id] = None

    def answered(self, prompt_id: str) -> None:
        """The turn of this prompt is over."""
        for turn_id in [t for t, (_, asked) in self._open.items() if asked == prompt_id]:
            self.closed(turn_id)

    def idle(self, channel: Channel | None) -> None:
        """The agent is idle on a channel; None: on all of them."""
        if channel is None:
            self._open.clear()
            self._nameless = False
        for turn_id in [t for t, (its, _) in self._open.items() if its == channel]:
            self.closed(turn_id)

    def on(self, channel: Channel) -> bool:
        """Whether one may be open on this channel."""
        return self._nameless or any(
            its is None or its == channel for its, _ in self._open.values()
        )
