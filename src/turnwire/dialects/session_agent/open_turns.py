"""What may run before our prompt: the other turns of a session, and the queue of R.

V runs one turn on each channel at the same time, and every socket receives the frames of all
turns. R's frames about its queue carry no ids, so the gateway only counts the rows (page 6, step
4).

Pages are sections of docs/wire/session-agent.md.
"""

from turnwire.core.bounds import keep
from turnwire.core.requests import Channel
from turnwire.core.wire import open_turns


class OpenTurns(open_turns.OpenTurns[Channel]):
    """The other turns that are open, by id, each with its channel. True if there are any."""

    def __init__(self) -> None:
        super().__init__()
        self._prompted: dict[Channel, None] = {}
        self._due: dict[Channel, None] = {}
        self._taken_as_unnamed: str | None = None
        """The id of the turn that was taken for the one without an id."""

    def __bool__(self) -> bool:
        return bool(self._turns or self._due) or self._has_unnamed

    def runner_busy(self) -> None:
        """The runner is busy with a turn whose id we do not have yet."""
        self._has_unnamed = True

    def prompted(self, channel: Channel) -> None:
        """A prompt was echoed since we connected, so the next turn of its channel is a new one."""
        keep(self._prompted, channel, None, self.KEPT_MAX)

    def dispatched(self, channel: Channel) -> None:
        """The runner has a prompt of this channel: the next turn of the channel is not ours."""
        self.prompted(channel)
        keep(self._due, channel, None, self.KEPT_MAX)

    def collected(self, channel: Channel) -> None:
        """The runner only collected that prompt (page 5.3): its channel has no turn to come."""
        self._due.pop(channel, None)

    def is_due(self, channel: Channel) -> bool:
        """Whether the next turn of this channel belongs to another prompt."""
        return channel in self._due

    def turn_began(self, turn_id: str, channel: Channel) -> None:
        """A turn began, so all earlier turns of its channel are closed."""
        open_channels = list(self._turns.values())
        self.close_channel(channel)
        is_expected = channel in open_channels or channel in self._prompted
        self._add(turn_id, channel, may_be_unnamed=not is_expected)

    def turn_seen(self, turn_id: str, channel: Channel) -> None:
        """A frame of this turn came."""
        self._add(turn_id, channel, may_be_unnamed=True)

    def _add(self, turn_id: str, channel: Channel, *, may_be_unnamed: bool) -> None:
        """Add an open turn.

        `may_be_unnamed`: it was dispatched before we connected, so it may be the turn without
        an id.
        """
        if self._is_known(turn_id):
            return
        if may_be_unnamed and self._has_unnamed:
            self._has_unnamed, self._taken_as_unnamed = False, turn_id
        self._put(turn_id, channel)

    def exclude_ours(self, turn_id: str) -> None:
        """This turn is ours: frames before its start made it look like another turn."""
        if self._turns.pop(turn_id, None) is not None and turn_id == self._taken_as_unnamed:
            self._has_unnamed = True

    def exclude_former(self, turn_id: str) -> None:
        """This turn was ours until now: its late frames do not make it another open turn."""
        self._ignore(turn_id)

    def close_channel(self, channel: Channel) -> None:
        """Close the turns of this channel, and expect none: a channel runs one turn at a time."""
        self._due.pop(channel, None)
        self._close_matching(lambda turn_channel: turn_channel == channel)

    def runner_idle(self) -> None:
        """The runner is idle: no turn is open or due."""
        self._close_matching(lambda _: True)
        self._due.clear()
        self._has_unnamed = False


class QueuePosition:
    """The position of our prompt in the queue. `length` is the number of rows in the queue.

    The queue is first in, first out. So our prompt is out of the queue when all rows ahead of
    it are out. It is also out as soon as the queue has no more rows than came in behind our
    prompt; this repairs the count after a missed frame. The agent itself may add rows behind
    ours without a frame, and reports only when they leave. So neither of the two counts is
    enough alone.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        self._ahead = self._behind = 0

    def enter(self, position: int | None) -> None:
        """Our prompt was queued, as the last row."""
        self.length = self.length + 1 if position is None else position
        self._ahead = self.length - 1
        self._behind = 0

    def enter_other(self, position: int | None) -> None:
        """Another prompt was queued."""
        self.length = self.length + 1 if position is None else position
        self._behind += 1

    def advance(self, remaining: int | None) -> bool:
        """A row was handed to the runner. True: our prompt is out of the queue."""
        self.length = max(0, self.length - 1) if remaining is None else remaining
        self._ahead -= 1
        self._behind = min(self._behind, self.length)
        return self._ahead < 0 or self.length <= self._behind

    def requeued(self, length: int | None) -> None:
        """The runner was lost. Its prompt, one row, is now the head of the queue (page 5.10)."""
        previous, self.length = self.length, self.length + 1 if length is None else length
        self._ahead += self.length > previous

    def clear(self) -> None:
        self.length = self._ahead = self._behind = 0
