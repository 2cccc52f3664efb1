"""The other turns of a session.

V runs one turn on each channel at the same time, and every socket receives the frames of all
turns.
"""

from typing import ClassVar, TypeVar

from turnwire.dialects.session_agent.frames import Channel

_Key = TypeVar("_Key")


class OpenTurns:
    """The other turns that are open, by id, each with its channel. True if there are any."""

    KEPT_MAX: ClassVar = 256

    def __init__(self) -> None:
        self._open: dict[str, Channel] = {}
        self._closed: dict[str, None] = {}
        self._prompted: dict[Channel, None] = {}
        self._due: dict[Channel, None] = {}
        self._has_unnamed = False
        self._taken_as_unnamed: str | None = None
        """The id of the turn that was taken for the one without an id."""

    def __bool__(self) -> bool:
        return bool(self._open or self._due) or self._has_unnamed

    def runner_busy(self) -> None:
        """The runner is busy with a turn whose id we do not have yet."""
        self._has_unnamed = True

    def prompted(self, channel: Channel) -> None:
        """A prompt was echoed since we connected, so the next turn of its channel is a new one."""
        _note(self._prompted, channel)

    def dispatched(self, channel: Channel) -> None:
        """The runner has a prompt of this channel: the next turn of the channel is not ours."""
        self.prompted(channel)
        _note(self._due, channel)

    def collected(self, channel: Channel) -> None:
        """The runner only collected that prompt (page 5.3): its channel has no turn to come."""
        self._due.pop(channel, None)

    def is_due(self, channel: Channel) -> bool:
        """Whether the next turn of this channel belongs to another prompt."""
        return channel in self._due

    def began(self, turn_id: str, channel: Channel) -> None:
        """A turn began, so all earlier turns of its channel are closed."""
        open_channels = list(self._open.values())
        self.close_channel(channel)
        is_expected = channel in open_channels or channel in self._prompted
        self._add(turn_id, channel, may_be_unnamed=not is_expected)

    def saw(self, turn_id: str, channel: Channel) -> None:
        """A frame of this turn came."""
        self._add(turn_id, channel, may_be_unnamed=True)

    def _add(self, turn_id: str, channel: Channel, *, may_be_unnamed: bool) -> None:
        """Add an open turn.

        `may_be_unnamed`: it was dispatched before we connected, so it may be the turn without
        an id.
        """
        if turn_id in self._open or turn_id in self._closed:
            return  # a late frame does not open the turn again
        if may_be_unnamed and self._has_unnamed:
            self._has_unnamed, self._taken_as_unnamed = False, turn_id
        if len(self._open) >= self.KEPT_MAX:
            del self._open[next(iter(self._open))]
        self._open[turn_id] = channel

    def closed(self, turn_id: str) -> None:
        if self._open.pop(turn_id, None) is None and turn_id not in self._closed:
            self._has_unnamed = False  # so this was the turn without an id
        _note(self._closed, turn_id)

    def exclude_ours(self, turn_id: str) -> None:
        """This turn is ours: frames before its start made it look like another turn."""
        if self._open.pop(turn_id, None) is not None and turn_id == self._taken_as_unnamed:
            self._has_unnamed = True

    def exclude_former(self, turn_id: str) -> None:
        """This turn was ours until now: its late frames do not make it another open turn."""
        _note(self._closed, turn_id)

    def close_channel(self, channel: Channel) -> None:
        """Close the turns of this channel, and expect none: a channel runs one turn at a time."""
        self._due.pop(channel, None)
        for turn_id in [id_ for id_, turn_channel in self._open.items() if turn_channel == channel]:
            self.closed(turn_id)

    def runner_idle(self) -> None:
        """The runner is idle: no turn is open or due."""
        for turn_id in list(self._open):
            self.closed(turn_id)
        self._due.clear()
        self._has_unnamed = False


def _note(entries: dict[_Key, None], key: _Key) -> None:
    """Add a key; drop the oldest one beyond `OpenTurns.KEPT_MAX`."""
    if key not in entries and len(entries) >= OpenTurns.KEPT_MAX:
        del entries[next(iter(entries))]
    entries[key] = None
