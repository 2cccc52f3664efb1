"""Whose turn is it: the state machine of page 6.

Nothing on this wire links a turn to its prompt. What can be known is that our
prompt was echoed (its author, text and channel, or its place in the queue),
that it was handed to the runner, and that the next turn on its channel is
then its own: R and A run one at a time, V one on each channel.

    GREETING --init--> WAITING --the floor is ours--> ASKED --echo--> TAKEN | QUEUED
    QUEUED --its place--> DISPATCHED          TAKEN --"queued" (R)--> QUEUED
    TAKEN | DISPATCHED --at work--> WORKING
    TAKEN | DISPATCHED | WORKING --assistant message--> RUNNING
    (these four) --runner lost--> LOST --dispatched, or told again--> DISPATCHED | RUNNING
    (these four) --another prompt's turn--> PASSED
    RUNNING | PASSED --finish part--> FINISHED | CANCELED
    CANCELED --assistant message--> RUNNING
    (any) --the end--> OVER

`ending` knows of the ends that no finish part tells, `conversation` of times.
"""

import enum
from typing import Final

from turnwire.core.dialect import Ask, Reach
from turnwire.core.room import Seat
from turnwire.dialects.session_agent.channel import THREAD, Channel
from turnwire.dialects.session_agent.hello import Hello
from turnwire.dialects.session_agent.others import Others
from turnwire.dialects.session_agent.place import Place
from turnwire.dialects.session_agent.wire import MessageData, Pending, StatusData


class Stage(enum.Enum):
    GREETING = enum.auto()
    """The agent has not said `init`: nothing is asked."""
    LOOKING = enum.auto()
    """We ask for nothing, and have seen no turn or prompt of our channel yet."""
    WAITING = enum.auto()
    """Another conversation of ours waits for its echo in this session: nothing is asked yet."""
    ASKED = enum.auto()
    """The prompt is sent, and nothing seen of it."""
    QUEUED = enum.auto()
    """It waits behind another turn, or for the runner."""
    TAKEN = enum.auto()
    """Echoed: at the runner, unless the next status says that it was queued (R)."""
    DISPATCHED = enum.auto()
    """At the runner."""
    WORKING = enum.auto()
    """The runner is seen at work on it; its turn has no id yet."""
    RUNNING = enum.auto()
    """Its turn has an id."""
    LOST = enum.auto()
    """The runner was lost; the prompt will be dispatched again (page 5.10)."""
    PASSED = enum.auto()
    """Another prompt of the channel was dispatched, so that ours is over, told or not."""
    FINISHED = enum.auto()
    """The finish part came."""
    CANCELED = enum.auto()
    """It came, and a restart may have canceled the turn: the prompt goes on then (page 5.4)."""
    OVER = enum.auto()


_AHEAD: Final = frozenset({Stage.TAKEN, Stage.DISPATCHED, Stage.WORKING})
_AT_WORK: Final = _AHEAD | {Stage.RUNNING}


class Whose:
    """What is known of our prompt and its turn."""

    def __init__(self, ask: Ask, seat: Seat) -> None:
        self.stage = Stage.GREETING
        self.channel: Channel = (ask.channel_type, ask.channel_id)
        self.prompt_id: str | None = None
        self.turn_id: str | None = None
        self.defers = False
        self.others = Others()
        self._text = ask.text
        self._user_id = ask.user_id
        self._seat = seat
        self.is_repeated = False
        """Our prompt was dispatched more than once, so that the end of one may not be its end."""
        self._place = Place(0)
        self._earlier_id: str | None = None
        self._queued_by: str | None = None
        self._looks = False
        self._equal: dict[str, None] = {}
        """Where others are apart: the prompts that were echoed like ours, and ours."""
        self._is_echoed: bool | None = None
        """Whether ours is among them for certain; None: that is not known yet."""

    @property
    def at_work(self) -> bool:
        """Whether the runner has our prompt."""
        return self.stage in _AT_WORK

    @property
    def concerned(self) -> bool:
        """Whether what is said of our channel is said of our turn."""
        return self.stage in _AT_WORK or self.stage is Stage.LOST

    @property
    def queued(self) -> bool:
        return self.stage in {Stage.QUEUED, Stage.LOST}

    @property
    def reach(self) -> Reach:
        match self.stage:
            case Stage.WORKING | Stage.RUNNING:
                return Reach.OURS if self._harmless and self._is_certain else Reach.NOTHING
            case Stage.GREETING | Stage.WAITING | Stage.PASSED | Stage.FINISHED | Stage.OVER:
                return Reach.NOTHING
            case _:
                return Reach.OTHERS

    @property
    def _has_asked(self) -> bool:
        return self.stage not in {Stage.GREETING, Stage.LOOKING, Stage.WAITING}

    @property
    def _harmless(self) -> bool:
        """Whether an abort would stop our turn alone (page 5.5).

        V scopes it to a thread alone, and else stops every channel; R drops
        the whole queue with it.
        """
        if self.defers and self.channel[0] == THREAD:
            return True
        # Of prompts that went out by this process it is known before our socket tells of them.
        asked = self._seat.neighbours
        if not self.defers:
            return not self._place.length and not asked
        return not self.others and all(channel == self.channel for channel in asked)

    @property
    def _is_certain(self) -> bool:
        """Whether no other process can have sent the prompt that we take for ours.

        The agent hears a socket in order, so ours has been echoed by the pong of a ping that was
        sent after it. If it is the only one like it then, and stays so, it is ours.
        """
        if not self._seat.apart or self._looks:
            return True
        perhaps = [its_id for its_id in self._equal if not self._seat.is_anothers(its_id)]
        return self._is_echoed is not False and perhaps == [self.prompt_id]

    # The prompt.

    def echoed(self) -> None:
        """All that the agent echoed of our prompt by now has been heard."""
        self._is_echoed = self.prompt_id is not None

    def _note_equal(self, prompt_id: str, author_id: str | None) -> None:
        """A prompt with our text was told on our channel."""
        if not self._seat.apart or author_id not in {None, self._user_id}:
            return
        if len(self._equal) < Others.KNOWN_MAX:
            self._equal[prompt_id] = None
        else:
            self._is_echoed = False  # ours may be one more

    def greeted(self, hello: Hello) -> None:
        self.stage = Stage.WAITING
        self.defers = hello.defers
        self._place = Place(hello.prompts_queued)
        self._earlier_id = hello.pending_id
        if hello.runner_busy and not self.others:
            self.others.busy()

    def asked(self, prompt_id: str) -> None:
        """This is the prompt whose turn is ours."""
        self.prompt_id = prompt_id
        self._seat.follow(prompt_id)

    def user_message(self, data: MessageData) -> bool:
        """A prompt was echoed. True: it is ours.

        Authors match by id alone: the rest of them may be missing (page 9, trap 20).
        """
        if self._has_asked and data.content == self._text and data.channel == self.channel:
            self._note_equal(data.id, data.author_id)
        if data.id == self.prompt_id:
            ours = self._looks or data.author_id in {None, self._user_id}
            if ours or self.stage is not Stage.QUEUED:
                if self.stage in {Stage.QUEUED, Stage.LOST}:
                    self._dispatched(Stage.TAKEN)
                return True
            # `queue.state` names no author: the prompt with our text was another user's.
            self.prompt_id, self.stage = None, Stage.ASKED
            return False
        if (
            self.stage is Stage.ASKED
            and data.author_id == self._user_id
            and data.content == self._text
            and data.channel == self.channel
            and self._seat.claim(data.id)
        ):
            self.asked(data.id)
            self._dispatched(Stage.TAKEN)
            return True
        if self.defers:
            self.others.dispatched(data.channel)
        else:
            self.others.prompted(data.channel)
        if self.stage is Stage.TAKEN:
            self.stage = Stage.DISPATCHED  # what is told next is no longer about ours
        return False

    def queued_by(self, user_id: str | None) -> None:
        """The audit log names the author of the prompt that is told next as waiting."""
        self._queued_by = user_id

    def pending(self, pending: Pending) -> bool:
        """A and V: the prompt that waits was told. True: it is ours, for the first time."""
        is_thread = self.channel[0] == THREAD  # else it may be told without its channel
        author_id, self._queued_by = self._queued_by, None
        if self.stage is Stage.WAITING:
            self._earlier_id = pending.message_id
        if (
            not self._has_asked
            or pending.content != self._text
            or pending.message_id == self._earlier_id
            or pending.named not in {self.channel, self.channel if is_thread else None}
        ):
            return False
        self._note_equal(pending.message_id, author_id)
        if (
            self.stage is not Stage.ASKED
            or author_id not in {None, self._user_id}
            or not self._seat.claim(pending.message_id)
        ):
            return False
        self.asked(pending.message_id)
        self.stage = Stage.QUEUED
        return True

    # What we did not ask for.

    def looks(self) -> None:
        """We ask for nothing: ours is what runs or waits on our channel, whoever asked for it."""
        self._looks = True
        self.stage = Stage.LOOKING

    def follows(self, turn_id: str) -> None:
        """This turn is at work, and ours is that one."""
        self.stage = Stage.RUNNING
        self.turn_id = turn_id
        self._seat.follow(turn_id)

    def awaits(self, prompt_id: str, position: int, length: int) -> None:
        """This prompt waits at a position, from 1, of a queue, and ours is its turn."""
        self.asked(prompt_id)
        self.stage = Stage.QUEUED
        self._place.enter(position)
        for later in range(position + 1, length + 1):
            self._place.another(later)

    # The queue (page 6, step 4).

    def prompt_queued(self, data: StatusData) -> bool:
        """A prompt was queued. True: it is ours, for the first time."""
        if self.defers:
            return False  # `queue.state` told it already
        if self.stage is Stage.TAKEN:
            self.stage = Stage.QUEUED
            self._place.enter(data.queue_position)
            return True
        self._place.another(data.queue_position)
        return False

    def prompt_dequeued(self, data: StatusData) -> bool:
        """A prompt was handed to the runner. True: it is ours, or our place moved."""
        out = self._place.moved(data.remaining)
        taken, lost = self.stage is Stage.TAKEN, self.stage is Stage.LOST
        if data.message_id is not None:  # V
            ours, elsewhere = data.message_id == self.prompt_id, data.channel != self.channel
        elif self.defers:  # A says so after it told the message of a prompt that waited
            ours, elsewhere = taken or lost, False
        else:  # R counts, and never says so of a prompt that did not wait
            ours, elsewhere = lost or (out and self.stage is Stage.QUEUED), taken
        if ours:
            if self.stage in {Stage.QUEUED, Stage.LOST, Stage.TAKEN}:
                self._dispatched(Stage.DISPATCHED)
            return True
        if elsewhere and data.message_id is not None:
            self.others.dispatched(data.channel)
        if not elsewhere and self.stage in _AT_WORK:
            self.stage = Stage.PASSED
        return self.stage is Stage.QUEUED and not self.defers

    def queue_cleared(self, channel: Channel | None) -> bool:
        """The queue of a channel, or all of it, was cleared. True: our prompt is gone with it."""
        self._place.clear()
        return self.queued and channel in {None, self.channel}

    def withdrawn(self, prompt_id: str) -> bool:
        """A prompt was taken out of the queue. True: it is ours."""
        return self.queued and prompt_id == self.prompt_id

    def runner_lost(self, queued: int | None) -> None:
        if self.stage in _AT_WORK:
            self.stage = Stage.LOST
        self._place.requeued(queued)

    def runner_idle(self, prompt_id: str | None) -> bool:
        """The runner is idle. True: it was at work on our prompt (page 9, trap 8)."""
        self.others.idle()
        return self.concerned and prompt_id in {None, self.prompt_id}

    # The turn.

    def at_it(self) -> None:
        """The runner says that it is at work on our channel."""
        # On R the echo comes before "queued": what is at work may still be another turn.
        sure = self.defers or not self.others
        if self.stage is Stage.DISPATCHED or (self.stage is Stage.TAKEN and sure):
            self.stage = Stage.WORKING

    def began(self, turn_id: str, channel: Channel) -> bool:
        """A turn began. True: it is ours, for the first time or under a new id.

        Not if another prompt of our channel was dispatched after ours: ours is
        over then, even where nothing told so.
        """
        bindable = self.at_work or self.stage in {Stage.LOST, Stage.CANCELED}
        if channel == self.channel and self.others.due(channel):
            self.passed()
        elif channel == self.channel and bindable:
            if self.turn_id is not None:
                self.others.forget(self.turn_id)
            self.others.ours(turn_id)
            self.turn_id = turn_id
            self.stage = Stage.RUNNING
            self._seat.follow(turn_id)
            return True
        self.others.began(turn_id, channel)
        return False

    def alive(self) -> None:
        """A frame of our turn came: a runner that was lost is back, perhaps never to begin anew."""
        if self.stage in _AHEAD or self.stage is Stage.LOST:
            self.stage = Stage.RUNNING

    def passed(self) -> None:
        """Another prompt of our channel follows, and ours is believed to be over."""
        if self.at_work:
            self.stage = Stage.PASSED
        elif self.stage is Stage.CANCELED:
            self.stage = Stage.FINISHED

    def _dispatched(self, stage: Stage) -> None:
        self.is_repeated = self.is_repeated or self.stage is Stage.LOST
        self.stage = stage
        if self.defers:
            self.others.left(self.channel)
        elif stage is Stage.DISPATCHED:
            self.others.idle()  # R runs one at a time
