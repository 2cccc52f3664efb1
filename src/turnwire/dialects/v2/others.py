"""The other turns of a session: a socket hears them all, and ours waits behind them."""

from typing import ClassVar, Final, TypeAlias

from msgspec import Struct

Channel: TypeAlias = tuple[str, str]
"""Its type and its id."""

DEFAULT_CHANNEL: Final[Channel] = ("web", "default")
"""What a `message.create` without a channel means."""


class _Open(Struct, frozen=True):
    channel: Channel | None
    """None: not known, so it may be ours."""
    prompt_id: str | None = None
    earlier: bool = False
    """Whether it was at work before we came: it never becomes ours."""


class Others:
    """The other turns of the session that are known to be open, by id."""

    _MAX: ClassVar = 256

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._closed: dict[str, None] = {}
        self._nameless = False
        self.seen = False
        """Whether one was ever open."""

    def __len__(self) -> int:
        return len(self._open) + self._nameless

    def busy(self) -> None:
        """The agent is busy with a turn that it does not name."""
        self._nameless = self.seen = True

    def saw(self, turn_id: str, channel: Channel | None = None, *, earlier: bool = False) -> None:
        """A frame of this turn came, or `init` names it; what comes late does not open it again.

        A frame may come before the `message.create` of its turn. While the agent is busy with a
        turn that it did not name, the frame is taken for that one's.
        """
        if turn_id not in self._open and turn_id not in self._closed:
            named, self._nameless = self._nameless, False
            self._note(turn_id, _Open(channel, earlier=earlier or named))

    def began(self, turn_id: str, channel: Channel, prompt_id: str | None = None) -> None:
        """This turn was created: what the frames before it did not say of it is known now."""
        if turn_id not in self._closed:
            known = self._open.get(turn_id)
            is_earlier = known is not None and known.earlier
            self._note(turn_id, _Open(channel, prompt_id, is_earlier))

    def forget(self, turn_id: str) -> None:
        """This one is ours."""
        self._open.pop(turn_id, None)

    def closed(self, turn_id: str) -> None:
        if self._open.pop(turn_id, None) is None and turn_id not in self._closed:
            self._nameless = False  # so this was the one without a name
        if len(self._closed) >= self._MAX:
            del self._closed[next(iter(self._closed))]
        self._closed[turn_id] = None

    def answered(self, prompt_id: str) -> None:
        """The turn of this prompt is over."""
        for turn_id in [t for t, its in self._open.items() if its.prompt_id == prompt_id]:
            self.closed(turn_id)

    def idle(self, channel: Channel | None) -> None:
        """The agent is idle on a channel; None: on all of them."""
        if channel is None:
            self._open.clear()
            self._nameless = False
        for turn_id in [t for t, its in self._open.items() if its.channel == channel]:
            self.closed(turn_id)

    def on(self, channel: Channel, *, besides: str | None = None) -> bool:
        """Whether one may be open on this channel; `besides` counts only if it was before us."""
        return self._nameless or any(
            its.channel in {None, channel} and (turn_id != besides or its.earlier)
            for turn_id, its in self._open.items()
        )

    def _note(self, turn_id: str, its: _Open) -> None:
        if turn_id not in self._open and len(self._open) >= self._MAX:
            del self._open[next(iter(self._open))]
        self._open[turn_id] = its
        self.seen = True
