"""The decision which turn of a session is ours: every socket gets the frames of all its turns.

Our turn is the one with our `promptId` in its `message.create`. If the agent
sends no `promptId`, our turn is the first one on our channel that meets all of
these conditions: it is created after our prompt, no earlier turn of that channel
is open, and no other stream of this process has claimed it. If other processes
may have streams of the session (`Member.apart`), the turn may answer a prompt of
such a stream. Then it is ours only if it also names our user. We never abort it:
the prompt of the other stream may be our user's, too. If the turn names no user, we
cannot decide (`is_ambiguous`). The binding also decides which turns an abort would
stop.

`turn.TurnProtocol` calls a method for each frame that says something about turns.
"""

import enum

from turnwire.core.agent import AbortScope
from turnwire.core.requests import Channel
from turnwire.core.session_group import Member
from turnwire.dialects.v2.open_turns import OpenTurns


class _Stage(enum.Enum):
    SEARCHING = enum.auto()
    """We send no prompt, and it is not yet decided which turn to follow."""
    WAITING = enum.auto()
    """The prompt is decided, and its turn has not begun."""
    RUNNING = enum.auto()
    FINISHED = enum.auto()


_SEARCHING, _WAITING, _RUNNING, _FINISHED = _Stage  # an enum's attributes are slow
_NONE, _OURS, _SHARED = AbortScope.NONE, AbortScope.OURS, AbortScope.SHARED


class TurnBinding:
    """Our turn, and the other open turns. An id is None if no frame named it."""

    __slots__ = (
        "_channel",
        "_has_seen_prompt_ids",
        "_is_guessed",
        "_is_resuming",
        "_member",
        "_prompt_id",
        "_stage",
        "_user_id",
        "is_ambiguous",
        "open_turns",
        "turn_id",
    )

    def __init__(
        self, channel: Channel, member: Member, prompt_id: str | None = None, user_id: str = ""
    ) -> None:
        self.turn_id: str | None = None
        self.open_turns = OpenTurns()
        self.is_ambiguous = False
        """Whether a turn began that may be ours, or that of another process's prompt."""
        self._is_guessed = False
        """Whether our turn named our user, but no prompt, and other processes may have streams."""
        self._has_seen_prompt_ids = False
        self._member = member
        self._user_id = user_id
        self._prompt_id = prompt_id
        self._channel = channel
        self._stage = _SEARCHING if prompt_id is None else _WAITING
        self._is_resuming = prompt_id is None

    @property
    def is_running(self) -> bool:
        return self._stage is _RUNNING

    @property
    def is_queued(self) -> bool:
        """Whether our prompt waits behind another turn."""
        return self._stage is _WAITING and bool(self.open_turns)

    @property
    def abort_scope(self) -> AbortScope:
        """Which turns an abort would stop now."""
        if self._is_resuming or self._is_guessed or self._stage is _FINISHED:
            return _NONE
        # An agent that sends no `promptId` can abort a turn, but not a prompt that has waited.
        has_waited_unnamed = (
            self._stage is _WAITING
            and self.open_turns.has_seen_any
            and not self._has_seen_prompt_ids
        )
        if has_waited_unnamed:
            return _SHARED
        return _SHARED if self.is_queued else _OURS

    def finish(self) -> None:
        """Our turn is over, or will never begin."""
        self._stage = _FINISHED

    def follow(self, turn_id: str, prompt_id: str | None = None) -> None:
        """This turn runs, and is ours from now on."""
        self._stage = _RUNNING
        self.turn_id = turn_id
        self._prompt_id = prompt_id or self._prompt_id
        self.open_turns.forget(turn_id)
        self._member.follow(turn_id)

    def wait_for(self, prompt_id: str | None) -> None:
        """The turn of this prompt is ours, and has not begun."""
        self._stage = _WAITING
        self._prompt_id = prompt_id
        if prompt_id is not None:
            self._member.follow(prompt_id)

    def prompt_id_seen(self) -> None:
        """A `promptId` came: from now on, a turn without one is never ours."""
        self._has_seen_prompt_ids = True

    def agent_busy(
        self, turn_id: str | None, channel: Channel | None = None, *, is_earlier: bool = False
    ) -> None:
        """The agent is busy with the turn `turn_id`; None if it does not name the turn.

        `is_earlier`: the turn was already running when we connected.
        """
        if turn_id is not None:
            if turn_id != self.turn_id:
                self.open_turns.turn_seen(turn_id, channel, is_earlier=is_earlier)
        elif self._stage is _WAITING:
            self.open_turns.unnamed_turn_seen()

    def turn_created(
        self, turn_id: str, prompt_id: str | None, channel: Channel, user_id: str | None = None
    ) -> bool:
        """A turn was created. Returns True if it is ours, for the first time or started over."""
        if prompt_id:
            self._has_seen_prompt_ids = True
            self._is_guessed = self._is_guessed and prompt_id != self._prompt_id
        if turn_id == self.turn_id:
            return False
        if self._is_ours(turn_id, prompt_id, channel, user_id):
            self.follow(turn_id)
            return True
        self.open_turns.turn_created(turn_id, channel, prompt_id)
        return False

    def concerns(self, turn_id: str | None, prompt_id: str | None, channel: Channel | None) -> bool:
        """Whether a frame that names these ids is about our turn. A frame may name none of them."""
        if prompt_id:
            self._has_seen_prompt_ids = True
        if turn_id and (self.turn_id or not prompt_id):
            return turn_id == self.turn_id
        if prompt_id:
            return prompt_id == self._prompt_id
        if channel is None:
            return self.is_running or not self.open_turns
        if channel != self._channel:
            return False
        return self.is_running or not self.open_turns.may_be_open_on(channel)

    def other_turn_ended(self, turn_id: str | None, prompt_id: str | None) -> bool:
        """Another turn ended. Returns False if the frame does not say which."""
        if turn_id:
            self.open_turns.turn_closed(turn_id)
        elif prompt_id:
            self.open_turns.prompt_finished(prompt_id)
        return bool(turn_id or prompt_id)

    def _is_ours(
        self, turn_id: str, prompt_id: str | None, channel: Channel, user_id: str | None
    ) -> bool:
        """Whether a new turn is ours. Sets `is_ambiguous` where that cannot be decided."""
        if self._stage is _FINISHED:
            return False
        if prompt_id:
            return prompt_id == self._prompt_id
        if (
            self._stage is not _WAITING
            or self._has_seen_prompt_ids
            or channel != self._channel
            or self.open_turns.may_be_open_on(channel, besides=turn_id)
        ):
            return False
        if self._is_resuming:
            return True  # any user may have sent its prompt
        if self._member.apart and (not user_id or user_id != self._user_id):
            self.is_ambiguous = not user_id
            return False
        is_ours = self._member.claim(turn_id)
        self._is_guessed = is_ours and self._member.apart
        return is_ours
