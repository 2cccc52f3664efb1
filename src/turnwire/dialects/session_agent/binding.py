"""Binds our prompt to its turn: the state machine of page 6.

Nothing on this wire links a turn to its prompt. The gateway can see three things. The agent
echoes our prompt (by its author, text and channel, or by its position in the queue). The agent
hands the prompt to the runner. Then the next turn on the channel is the turn of our prompt,
because R and A run one turn at a time, and V runs one on each channel.

    AWAITING_INIT --init--> AWAITING_LOCK --prompt lock--> SENT --echo--> ECHOED | QUEUED
    QUEUED --position reached--> DISPATCHED   ECHOED --"queued" (R)--> QUEUED
    ECHOED | DISPATCHED --runner at work--> WORKING
    ECHOED | DISPATCHED | WORKING --assistant message--> RUNNING
    (these four) --runner lost--> RUNNER_LOST --dispatched or repeated--> DISPATCHED | RUNNING
    (these four) --turn of another prompt--> SUPERSEDED
    RUNNING | SUPERSEDED --finish part--> FINISHED | CANCELED
    CANCELED --assistant message--> RUNNING
    (any) --end--> OVER

`completion` detects ends without a finish part. `turn` handles times.
"""

import enum
from typing import Final, assert_never

from turnwire.core.agent import AbortScope, PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent.frames import THREAD, Channel, MessageData, Pending, StatusData
from turnwire.dialects.session_agent.init import SessionState
from turnwire.dialects.session_agent.open_turns import OpenTurns
from turnwire.dialects.session_agent.queue import QueuePosition


class Stage(enum.Enum):
    AWAITING_INIT = enum.auto()
    """The agent has not sent `init`, and we have sent nothing."""
    LOOKING = enum.auto()
    """We send no prompt, and no turn or prompt of our channel has shown up yet."""
    AWAITING_LOCK = enum.auto()
    """Another stream of this process waits for its echo in this session. Nothing is sent yet."""
    SENT = enum.auto()
    """The prompt is sent. The agent has not shown it yet."""
    QUEUED = enum.auto()
    """The prompt waits behind another turn, or for the runner."""
    ECHOED = enum.auto()
    """Echoed. The runner has the prompt, unless the next status says that it was queued (R)."""
    DISPATCHED = enum.auto()
    """The runner has the prompt."""
    WORKING = enum.auto()
    """The runner is at work on the prompt; the turn has no id yet."""
    RUNNING = enum.auto()
    """The turn of the prompt has an id."""
    RUNNER_LOST = enum.auto()
    """The runner was lost; the agent will dispatch the prompt again (page 5.10)."""
    SUPERSEDED = enum.auto()
    """Another prompt of the channel was dispatched, so ours is over, with or without a report."""
    FINISHED = enum.auto()
    """The finish part came."""
    CANCELED = enum.auto()
    """The finish part came, and a restart may have canceled the turn: then the prompt goes on
    (page 5.4)."""
    OVER = enum.auto()


_BEFORE_TURN: Final = frozenset({Stage.ECHOED, Stage.DISPATCHED, Stage.WORKING})
_AT_WORK: Final = _BEFORE_TURN | {Stage.RUNNING}


class TurnBinding:
    """The state of our prompt and its turn.

    Most methods report one fact from a frame; a method that returns a bool says whether the
    fact is about our prompt or turn.
    """

    def __init__(self, request: PromptRequest, member: Member) -> None:
        self.stage = Stage.AWAITING_INIT
        self.channel: Channel = (request.channel_type, request.channel_id)
        self.prompt_id: str | None = None
        self.turn_id: str | None = None
        self.echo_on_dispatch = False
        self.open_turns = OpenTurns()
        self._text = request.text
        self._user_id = request.user_id
        self._member = member
        self.is_repeated = False
        """Our prompt was dispatched more than once: a completion may be that of an earlier copy."""
        self._queue_position = QueuePosition(0)
        self._earlier_id: str | None = None
        self._queue_author_id: str | None = None
        self._is_following = False
        self._equal_prompts: dict[str, None] = {}
        """Only if several processes serve the session: all echoed prompts with our text, ours
        among them."""
        self._is_echoed: bool | None = None
        """Whether our own prompt is certainly in `_equal_prompts`; None while that is unknown."""

    @property
    def is_at_work(self) -> bool:
        """Whether the runner has our prompt."""
        return self.stage in _AT_WORK

    @property
    def owns_channel(self) -> bool:
        """Whether a frame about our channel is about our turn."""
        return self.stage in _AT_WORK or self.stage is Stage.RUNNER_LOST

    @property
    def is_queued(self) -> bool:
        return self.stage in {Stage.QUEUED, Stage.RUNNER_LOST}

    @property
    def abort_scope(self) -> AbortScope:
        match self.stage:
            case Stage.WORKING | Stage.RUNNING:
                return (
                    AbortScope.OURS
                    if self._stops_ours_alone and self._is_certain
                    else AbortScope.NONE
                )
            case (
                Stage.AWAITING_INIT
                | Stage.AWAITING_LOCK
                | Stage.SUPERSEDED
                | Stage.FINISHED
                | Stage.OVER
            ):
                return AbortScope.NONE
            case (
                Stage.LOOKING
                | Stage.SENT
                | Stage.QUEUED
                | Stage.ECHOED
                | Stage.DISPATCHED
                | Stage.RUNNER_LOST
                | Stage.CANCELED
            ):
                return AbortScope.SHARED
            case _:
                assert_never(self.stage)

    @property
    def _has_sent(self) -> bool:
        return self.stage not in {Stage.AWAITING_INIT, Stage.LOOKING, Stage.AWAITING_LOCK}

    @property
    def _stops_ours_alone(self) -> bool:
        """Whether an abort would stop our turn alone (page 5.5).

        V limits an abort to a thread, and on other channels stops every channel. R clears the
        whole queue with it.
        """
        if self.echo_on_dispatch and self.channel[0] == THREAD:
            return True
        # `other_prompts` has the prompts of this process before our socket receives a frame about
        # them.
        other_channels = self._member.other_prompts
        if not self.echo_on_dispatch:
            return not self._queue_position.length and not other_channels
        return not self.open_turns and all(channel == self.channel for channel in other_channels)

    @property
    def _is_certain(self) -> bool:
        """Whether the prompt that we bound is ours, and not one of another process.

        The agent reads a socket in order. So when the pong of a ping arrives that we sent after
        our prompt, our prompt has been echoed. If it is the only one with its text then, and
        stays the only one, it is ours.
        """
        if not self._member.apart or self._is_following:
            return True
        candidates = [
            prompt_id
            for prompt_id in self._equal_prompts
            if not self._member.is_claimed_by_another(prompt_id)
        ]
        return self._is_echoed is not False and candidates == [self.prompt_id]

    # The prompt.

    def echoes_complete(self) -> None:
        """The pong after our prompt came: if the agent echoed our prompt, we have seen the echo."""
        self._is_echoed = self.prompt_id is not None

    def _note_equal(self, prompt_id: str, author_id: str | None) -> None:
        """Record a prompt with our text on our channel."""
        if not self._member.apart or author_id not in {None, self._user_id}:
            return
        if len(self._equal_prompts) < OpenTurns.KEPT_MAX:
            self._equal_prompts[prompt_id] = None
        else:
            self._is_echoed = False  # ours may be one that is not recorded

    def init_received(self, state: SessionState) -> None:
        self.stage = Stage.AWAITING_LOCK
        self.echo_on_dispatch = state.echo_on_dispatch
        self._queue_position = QueuePosition(state.prompts_queued)
        self._earlier_id = state.pending_id
        if state.runner_busy and not self.open_turns:
            self.open_turns.runner_busy()

    def bind_prompt(self, prompt_id: str) -> None:
        """Bind this prompt: its turn is ours."""
        self.prompt_id = prompt_id
        self._member.follow(prompt_id)

    def user_message(self, data: MessageData) -> bool:
        """A prompt was echoed. True: it is ours.

        Authors are compared by id alone, since their other fields may be missing (page 9, trap
        20).
        """
        if self._has_sent and data.content == self._text and data.channel == self.channel:
            self._note_equal(data.id, data.author_id)
        if data.id == self.prompt_id:
            is_ours = self._is_following or data.author_id in {None, self._user_id}
            if is_ours or self.stage is not Stage.QUEUED:
                if self.stage in {Stage.QUEUED, Stage.RUNNER_LOST}:
                    self._dispatched(Stage.ECHOED)
                return True
            # `queue.state` names no author: the prompt with our text belongs to another user.
            self.prompt_id, self.stage = None, Stage.SENT
            return False
        if (
            self.stage is Stage.SENT
            and data.author_id == self._user_id
            and data.content == self._text
            and data.channel == self.channel
            and self._member.claim(data.id)
        ):
            self.bind_prompt(data.id)
            self._dispatched(Stage.ECHOED)
            return True
        if self.echo_on_dispatch:
            self.open_turns.dispatched(data.channel)
        else:
            self.open_turns.prompted(data.channel)
        if self.stage is Stage.ECHOED:
            self.stage = Stage.DISPATCHED  # the next status is no longer about ours
        return False

    def note_queue_author(self, user_id: str | None) -> None:
        """The audit log names the author of the prompt that `queue.state` reports next."""
        self._queue_author_id = user_id

    def prompt_pending(self, pending: Pending) -> bool:
        """A and V: the agent reports the waiting prompt. True: it is ours, for the first time."""
        is_thread = self.channel[0] == THREAD  # on other channels the report may lack the channel
        author_id, self._queue_author_id = self._queue_author_id, None
        if self.stage is Stage.AWAITING_LOCK:
            self._earlier_id = pending.message_id
        if (
            not self._has_sent
            or pending.content != self._text
            or pending.message_id == self._earlier_id
            or pending.named_channel not in {self.channel, self.channel if is_thread else None}
        ):
            return False
        self._note_equal(pending.message_id, author_id)
        if (
            self.stage is not Stage.SENT
            or author_id not in {None, self._user_id}
            or not self._member.claim(pending.message_id)
        ):
            return False
        self.bind_prompt(pending.message_id)
        self.stage = Stage.QUEUED
        return True

    # Following a turn without a prompt of ours.

    def start_following(self) -> None:
        """We send no prompt: our turn is the one that runs or waits on our channel."""
        self._is_following = True
        self.stage = Stage.LOOKING

    def follow_turn(self, turn_id: str) -> None:
        """Bind this turn, which is running."""
        self.stage = Stage.RUNNING
        self.turn_id = turn_id
        self._member.follow(turn_id)

    def await_prompt(self, prompt_id: str, position: int, length: int) -> None:
        """Bind this prompt, which waits at `position` (from 1) of a queue of `length` prompts."""
        self.bind_prompt(prompt_id)
        self.stage = Stage.QUEUED
        self._queue_position.enter(position)
        for later in range(position + 1, length + 1):
            self._queue_position.enter_other(later)

    # The queue (page 6, step 4).

    def prompt_queued(self, data: StatusData) -> bool:
        """A prompt was queued. True: it is ours, for the first time."""
        if self.echo_on_dispatch:
            return False  # `queue.state` has reported it
        if self.stage is Stage.ECHOED:
            self.stage = Stage.QUEUED
            self._queue_position.enter(data.queue_position)
            return True
        self._queue_position.enter_other(data.queue_position)
        return False

    def prompt_dequeued(self, data: StatusData) -> bool:
        """A prompt was handed to the runner. True: it is ours, or our queue position changed."""
        is_out = self._queue_position.advance(data.remaining)
        is_echoed, is_lost = self.stage is Stage.ECHOED, self.stage is Stage.RUNNER_LOST
        if data.message_id is not None:  # V
            is_ours, is_elsewhere = data.message_id == self.prompt_id, data.channel != self.channel
        elif self.echo_on_dispatch:  # A sends this after it echoed a prompt that waited
            is_ours, is_elsewhere = is_echoed or is_lost, False
        else:  # R sends only counts, and sends them only for prompts that waited
            is_ours, is_elsewhere = is_lost or (is_out and self.stage is Stage.QUEUED), is_echoed
        if is_ours:
            if self.stage in {Stage.QUEUED, Stage.RUNNER_LOST, Stage.ECHOED}:
                self._dispatched(Stage.DISPATCHED)
            return True
        if is_elsewhere and data.message_id is not None:
            self.open_turns.dispatched(data.channel)
        if not is_elsewhere and self.stage in _AT_WORK:
            self.stage = Stage.SUPERSEDED
        return self.stage is Stage.QUEUED and not self.echo_on_dispatch

    def queue_cleared(self, channel: Channel | None) -> bool:
        """The queue of one channel, or the whole queue, was cleared. True: our prompt was in it."""
        self._queue_position.clear()
        return self.is_queued and channel in {None, self.channel}

    def withdrawn(self, prompt_id: str) -> bool:
        """A prompt was taken out of the queue. True: it is ours."""
        return self.is_queued and prompt_id == self.prompt_id

    def runner_lost(self, queued: int | None) -> None:
        if self.stage in _AT_WORK:
            self.stage = Stage.RUNNER_LOST
        self._queue_position.requeued(queued)

    def runner_idle(self, prompt_id: str | None) -> bool:
        """The runner is idle. True: it was at work on our prompt (page 9, trap 8)."""
        self.open_turns.runner_idle()
        return self.owns_channel and prompt_id in {None, self.prompt_id}

    # The turn.

    def runner_working(self) -> None:
        """The runner reports that it is at work on our channel."""
        # R sends the echo before "queued", so the runner may still be at work on another turn.
        is_certain = self.echo_on_dispatch or not self.open_turns
        if self.stage is Stage.DISPATCHED or (self.stage is Stage.ECHOED and is_certain):
            self.stage = Stage.WORKING

    def turn_began(self, turn_id: str, channel: Channel) -> bool:
        """A turn began. True: it is ours, for the first time or under a new id.

        It is not ours if another prompt of our channel was dispatched after ours: then our turn
        is over, even if no frame reported its end.
        """
        is_bindable = self.is_at_work or self.stage in {Stage.RUNNER_LOST, Stage.CANCELED}
        if channel == self.channel and self.open_turns.is_due(channel):
            self.supersede()
        elif channel == self.channel and is_bindable:
            if self.turn_id is not None:
                self.open_turns.exclude_former(self.turn_id)
            self.open_turns.exclude_ours(turn_id)
            self.turn_id = turn_id
            self.stage = Stage.RUNNING
            self._member.follow(turn_id)
            return True
        self.open_turns.began(turn_id, channel)
        return False

    def turn_alive(self) -> None:
        """A frame of our turn came.

        If the runner was lost, it is back, and may continue without a new start.
        """
        if self.stage in _BEFORE_TURN or self.stage is Stage.RUNNER_LOST:
            self.stage = Stage.RUNNING

    def supersede(self) -> None:
        """Another prompt of our channel follows: assume that our turn is over."""
        if self.is_at_work:
            self.stage = Stage.SUPERSEDED
        elif self.stage is Stage.CANCELED:
            self.stage = Stage.FINISHED

    def _dispatched(self, stage: Stage) -> None:
        self.is_repeated = self.is_repeated or self.stage is Stage.RUNNER_LOST
        self.stage = stage
        if self.echo_on_dispatch:
            self.open_turns.close_channel(self.channel)
        elif stage is Stage.DISPATCHED:
            self.open_turns.runner_idle()  # R runs one turn at a time
