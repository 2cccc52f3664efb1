"""Whose turn is it: every socket of a session hears all its turns, and one of them is ours.

Ours is the one whose `message.create` carries our `promptId`. Where the agent
names no prompts, it is the first turn on our channel that is created after our
prompt while no earlier one of that channel is open, and that no other
conversation of this process claimed. Where other processes may have streams of
the session, that is a guess: then such a turn must be our user's, it is never
aborted, and of one that is nobody's we are at a loss. What an abort would hit
follows from the same knowledge.
"""

import enum

from turnwire.core.dialect import Reach
from turnwire.core.room import Seat
from turnwire.dialects.v2.others import Channel, Others


class _Stage(enum.Enum):
    LOOKING = enum.auto()
    """We ask for nothing, and do not know yet which turn to follow."""
    ASKED = enum.auto()
    RUNNING = enum.auto()
    OVER = enum.auto()


_LOOKING, _ASKED, _RUNNING, _OVER = _Stage  # an enum's attributes are slow
_NOTHING, _OURS, _OTHERS = Reach.NOTHING, Reach.OURS, Reach.OTHERS


class Whose:
    """What is known of our turn and of the others. An id that is None is not known, or not said."""

    def __init__(
        self, channel: Channel, seat: Seat, prompt_id: str | None = None, user_id: str = ""
    ) -> None:
        self.turn_id: str | None = None
        self.others = Others()
        self.at_a_loss = False
        """Whether a turn began that is ours, or that of a prompt which another process sent."""
        self._is_guessed = False
        self._seat = seat
        self._user_id = user_id
        self._prompt_id = prompt_id
        self._channel = channel
        self._stage = _LOOKING if prompt_id is None else _ASKED
        self._looks = prompt_id is None
        self._names_prompts = False

    @property
    def is_running(self) -> bool:
        return self._stage is _RUNNING

    @property
    def queued(self) -> bool:
        return self._stage is _ASKED and bool(self.others)

    @property
    def reach(self) -> Reach:
        if self._looks or self._is_guessed or self._stage is _OVER:
            return _NOTHING
        # An agent that names no prompts can be told to abort a turn, not a prompt that waited.
        nameless = self._stage is _ASKED and self.others.seen and not self._names_prompts
        if nameless:
            return _OTHERS
        return _OTHERS if self.queued else _OURS

    def over(self) -> None:
        """Our turn is over, or will never begin."""
        self._stage = _OVER

    def follows(self, turn_id: str, prompt_id: str | None = None) -> None:
        """This turn runs, and is the one that we looked for."""
        self._stage = _RUNNING
        self.turn_id = turn_id
        self._prompt_id = prompt_id or self._prompt_id
        self.others.forget(turn_id)
        self._seat.follow(turn_id)

    def awaits(self, prompt_id: str | None) -> None:
        """The turn of this prompt is the one that we looked for, and did not begin yet."""
        self._stage = _ASKED
        self._prompt_id = prompt_id
        if prompt_id is not None:
            self._seat.follow(prompt_id)

    def names_prompts(self) -> None:
        """A `promptId` was seen: from now on no turn is ours without one."""
        self._names_prompts = True

    def busy(
        self, turn_id: str | None, channel: Channel | None = None, *, earlier: bool = False
    ) -> None:
        """The agent is busy; `turn_id` if it said with what, `earlier` if it was when we came."""
        if turn_id is not None:
            if turn_id != self.turn_id:
                self.others.saw(turn_id, channel, earlier=earlier)
        elif self._stage is _ASKED:
            self.others.busy()

    def created(
        self, turn_id: str, prompt_id: str | None, channel: Channel, user_id: str | None = None
    ) -> bool:
        """A turn was created. True: it is ours, for the first time or started over."""
        if prompt_id:
            self._names_prompts = True
            self._is_guessed = self._is_guessed and prompt_id != self._prompt_id
        if turn_id == self.turn_id:
            return False
        if self._is_ours(turn_id, prompt_id, channel, user_id):
            self.follows(turn_id)
            return True
        self.others.began(turn_id, channel, prompt_id)
        return False

    def concerns(self, turn_id: str | None, prompt_id: str | None, channel: Channel | None) -> bool:
        """Whether a frame that need not name its turn is about ours."""
        if prompt_id:
            self._names_prompts = True
        if turn_id and (self.turn_id or not prompt_id):
            return turn_id == self.turn_id
        if prompt_id:
            return prompt_id == self._prompt_id
        if channel is None:
            return self.is_running or not self.others
        if channel != self._channel:
            return False
        return self.is_running or not self.others.on(channel)

    def ended(self, turn_id: str | None, prompt_id: str | None) -> bool:
        """Another turn ended. False: it is not said which."""
        if turn_id:
            self.others.closed(turn_id)
        elif prompt_id:
            self.others.answered(prompt_id)
        return bool(turn_id or prompt_id)

    def _is_ours(
        self, turn_id: str, prompt_id: str | None, channel: Channel, user_id: str | None
    ) -> bool:
        if self._stage is _OVER:
            return False
        if prompt_id:
            return prompt_id == self._prompt_id
        if (
            self._stage is not _ASKED
            or self._names_prompts
            or channel != self._channel
            or self.others.on(channel, besides=turn_id)
        ):
            return False
        if self._looks:
            return True  # whoever asked for it
        if self._seat.apart and (not user_id or user_id != self._user_id):
            self.at_a_loss = not user_id
            return False
        is_ours = self._seat.claim(turn_id)
        self._is_guessed = is_ours and self._seat.apart
        return is_ours
