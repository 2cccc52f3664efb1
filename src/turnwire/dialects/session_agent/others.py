"""The other turns of a session: V runs one on each channel at once, and every socket hears all."""

from typing import ClassVar, TypeVar

from turnwire.dialects.session_agent.channel import Channel

_Key = TypeVar("_Key")


class Others:
    """The other turns that are known to be open, by id, each with its channel."""

    KNOWN_MAX: ClassVar = 256

    def __init__(self) -> None:
        self._open: dict[str, Channel] = {}
        self._closed: dict[str, None] = {}
        self._prompted: dict[Channel, None] = {}
        self._due: dict[Channel, None] = {}
        self._nameless = False
        self._named: str | None = None
        """The turn that was taken for the one without a name."""

    def __bool__(self) -> bool:
        return bool(self._open or self._due) or self._nameless

    def busy(self) -> None:
        """The runner is busy with a turn of which nothing is known yet."""
        self._nameless = True

    def prompted(self, channel: Channel) -> None:
        """A prompt was told since we came: the next turn of its channel is no old one."""
        _note(self._prompted, channel)

    def dispatched(self, channel: Channel) -> None:
        """The runner has this prompt: the next turn of its channel is that one's."""
        self.prompted(channel)
        _note(self._due, channel)

    def collected(self, channel: Channel) -> None:
        """That prompt is only collected (page 5.3)."""
        self._due.pop(channel, None)

    def due(self, channel: Channel) -> bool:
        """Whether the next turn of this channel is another's."""
        return channel in self._due

    def began(self, turn_id: str, channel: Channel) -> None:
        """A turn began, so that no earlier one of its channel is open."""
        earlier = list(self._open.values())
        self.left(channel)
        known = channel in earlier or channel in self._prompted
        self._saw(turn_id, channel, named=not known)

    def saw(self, turn_id: str, channel: Channel) -> None:
        """A frame of this turn came."""
        self._saw(turn_id, channel, named=True)

    def _saw(self, turn_id: str, channel: Channel, *, named: bool) -> None:
        """Note a turn; `named` if it was dispatched before we came, as the one without a name."""
        if turn_id in self._open or turn_id in self._closed:
            return  # what comes late does not open it again
        if named and self._nameless:
            self._nameless, self._named = False, turn_id
        if len(self._open) >= self.KNOWN_MAX:
            del self._open[next(iter(self._open))]
        self._open[turn_id] = channel

    def closed(self, turn_id: str) -> None:
        if self._open.pop(turn_id, None) is None and turn_id not in self._closed:
            self._nameless = False  # so this was the one without a name
        _note(self._closed, turn_id)

    def ours(self, turn_id: str) -> None:
        """This turn is ours: what was heard of it before it began was no other's."""
        if self._open.pop(turn_id, None) is not None and turn_id == self._named:
            self._nameless = True

    def forget(self, turn_id: str) -> None:
        """This was ours, and is no more: what comes of it late is no other's."""
        _note(self._closed, turn_id)

    def left(self, channel: Channel) -> None:
        """No turn of this channel is open or due: it runs one at a time."""
        self._due.pop(channel, None)
        for turn_id in [t for t, its in self._open.items() if its == channel]:
            self.closed(turn_id)

    def idle(self) -> None:
        """The runner is idle."""
        for turn_id in list(self._open):
            self.closed(turn_id)
        self._due.clear()
        self._nameless = False


def _note(known: dict[_Key, None], key: _Key) -> None:
    """Remember it, and forget the oldest beyond what is remembered at most."""
    if key not in known and len(known) >= Others.KNOWN_MAX:
        del known[next(iter(known))]
    known[key] = None
