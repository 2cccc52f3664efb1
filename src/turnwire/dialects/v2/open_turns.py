"""The open turns of a session that are not ours. The agent sends their frames to every socket.

`TurnBinding` keeps one `OpenTurns`: our prompt waits while an open turn is before it in the queue.
"""

from msgspec import Struct

from turnwire.core.requests import Channel
from turnwire.core.wire import open_turns


class _OpenTurn(Struct, frozen=True):
    channel: Channel | None
    """None: no frame named the channel, so it may be ours."""
    prompt_id: str | None = None
    is_earlier: bool = False
    """Whether the turn was already running when we connected: then it never becomes ours."""


class OpenTurns(open_turns.OpenTurns[_OpenTurn]):
    """The turns of other prompts that are open, with their channels and prompts."""

    def __init__(self) -> None:
        super().__init__()
        self.has_seen_any = False
        """Whether another turn was ever open."""

    def __len__(self) -> int:
        return len(self._turns) + self._has_unnamed

    def unnamed_turn_seen(self) -> None:
        """The agent is busy with a turn that it does not name."""
        self._has_unnamed = self.has_seen_any = True

    def turn_seen(
        self, turn_id: str, channel: Channel | None = None, *, is_earlier: bool = False
    ) -> None:
        """A frame of this turn came, or `init` names it. A late frame does not reopen a turn.

        A frame may come before the `message.create` of its turn. While the agent is busy with a
        turn that it did not name, the frame is taken for a frame of that turn.
        """
        if not self._is_known(turn_id):
            was_unnamed, self._has_unnamed = self._has_unnamed, False
            self._put(turn_id, _OpenTurn(channel, is_earlier=is_earlier or was_unnamed))

    def turn_created(self, turn_id: str, channel: Channel, prompt_id: str | None = None) -> None:
        """The `message.create` of this turn came. It adds the channel and the prompt."""
        if turn_id not in self._closed:
            turn = self._turns.get(turn_id)
            is_earlier = turn is not None and turn.is_earlier
            self._put(turn_id, _OpenTurn(channel, prompt_id, is_earlier))

    def forget(self, turn_id: str) -> None:
        """Remove this turn: it is ours."""
        self._turns.pop(turn_id, None)

    def prompt_finished(self, prompt_id: str) -> None:
        """The turn of this prompt is over."""
        self._close_matching(lambda turn: turn.prompt_id == prompt_id)

    def channel_idle(self, channel: Channel | None) -> None:
        """The agent is idle on this channel; None: on all channels."""
        if channel is None:
            self._turns.clear()
            self._has_unnamed = False
        self._close_matching(lambda turn: turn.channel == channel)

    def may_be_open_on(self, channel: Channel, *, besides: str | None = None) -> bool:
        """Whether a turn may be open on this channel.

        The turn `besides` counts only if it was already running when we connected.
        """
        return self._has_unnamed or any(
            turn.channel in {None, channel} and (turn_id != besides or turn.is_earlier)
            for turn_id, turn in self._turns.items()
        )

    def _put(self, turn_id: str, turn: _OpenTurn) -> None:
        super()._put(turn_id, turn)
        self.has_seen_any = True
