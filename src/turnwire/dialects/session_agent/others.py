"""The other turns of a session: V runs one on each channel at once, and every socket hears all."""

from typing import ClassVar

from turnwire.dialects.session_agent.channel import Channel


class Others:
    """The other turns that are known to be open, by id, each with its channel."""

    _MAX: ClassVar = 256

    def __init__(self) -> None:
        self._open: dict[str, Channel] = {}
        self._closed: dict[str, None] = {}
        self._prompted: dict[Channel, None] = {}
        self._nameless = False

    def __bool__(self) -> bool:
        return bool(self._open) or self._nameless

    def busy(self) -> None:
        """The runner is busy with a turn of which nothing is known yet."""
        self._nameless = True

    def prompted(self, channel: Channel) -> None:
        """A prompt was told since we came: the next turn of its channel is no old one."""
        if len(self._prompted) >= self._MAX:
            del self._prompted[next(iter(self._prompted))]
        self._prompted[channel] = None

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
        if named:
            self._nameless = False
        if len(self._open) >= self._MAX:
            del self._open[next(iter(self._open))]
        self._open[turn_id] = channel

    def closed(self, turn_id: str) -> None:
        if self._open.pop(turn_id, None) is None and turn_id not in self._closed:
            self._nameless = False  # so this was the one without a name
        if len(self._closed) >= self._MAX:
            del self._closed[next(iter(self._closed))]
        self._closed[turn_id] = None

    def forget(self, turn_id: str) -> None:
        """This was ours, and is no more: what comes of it late is no other's."""
        self._closed[turn_id] = None

    def left(self, channel: Channel) -> None:
        """No turn of this channel is open: it runs one at a time."""
        for turn_id in [t for t, its in self._open.items() if its == channel]:
            self.closed(turn_id)

    def idle(self) -> None:
        """The runner is idle."""
        for turn_id in list(self._open):
            self.closed(turn_id)
        self._nameless = False
