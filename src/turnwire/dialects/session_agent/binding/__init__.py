"""Binds our prompt to its turn: the state machine of page 6.

Nothing on this wire links a turn to its prompt. The gateway can see three things. The agent
echoes our prompt (by its author, text and channel, or by its position in the queue). The agent
hands the prompt to the runner. Then the next turn on the channel is the turn of our prompt,
because the revisions R and A run one turn at a time, and V runs one on each channel.

Rule: the state changes in this file alone, and by the table of `binding.transitions` alone. A
method of `TurnBinding` decides what a frame reports (a `Trigger`), with conditions that are not
state: authors, ids, counts, the revision. The table says what follows from the trigger.

`progress` detects ends without a finish part. `turn` handles times.

Pages are sections of docs/wire/session-agent.md.
"""

from typing import Final, assert_never

from turnwire.core.agent import AbortScope
from turnwire.core.requests import Channel, PromptRequest
from turnwire.core.session_group import Member
from turnwire.dialects.session_agent.binding.transitions import (
    AT_WORK,
    IGNORED,
    TRANSITIONS,
    Stage,
    Trigger,
)
from turnwire.dialects.session_agent.frames import THREAD, MessageData, Pending, StatusData
from turnwire.dialects.session_agent.init import SessionState
from turnwire.dialects.session_agent.open_turns import OpenTurns, QueuePosition

_RUNNING: Final = Stage.RUNNING  # an enum's attributes are slow


class TurnBinding:
    """The state of our prompt and its turn.

    Most methods report one fact from a frame; a method that returns a bool says whether the
    fact is about our prompt or turn.
    """

    def __init__(self, request: PromptRequest, member: Member) -> None:
        self.stage = Stage.AWAITING_INIT
        """Only `_apply` changes it."""
        self.channel = request.channel
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

    def _apply(self, trigger: Trigger) -> bool:
        """Change the state as the table says. False: the trigger is ignored in this state."""
        target = TRANSITIONS.get((self.stage, trigger))
        if target is None:
            assert trigger in IGNORED[self.stage], f"{trigger} is impossible in {self.stage}"
            return False
        self.stage = target
        return True

    @property
    def owns_channel(self) -> bool:
        """Whether a frame about our channel is about our turn: the runner has our prompt."""
        return self.stage in AT_WORK or self.stage is Stage.RUNNER_LOST

    @property
    def is_queued(self) -> bool:
        return self.stage in {Stage.QUEUED, Stage.RUNNER_LOST}

    @property
    def abort_scope(self) -> AbortScope:
        match self.stage:
            case Stage.WORKING | Stage.RUNNING:
                is_ours = self._stops_ours_alone and self._is_certain
                return AbortScope.OURS if is_ours else AbortScope.NONE
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
        if self.echo_on_dispatch and self.channel.type == THREAD:
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
        is_taken = self._member.is_claimed_by_another
        candidates = [prompt_id for prompt_id in self._equal_prompts if not is_taken(prompt_id)]
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

    def init_received(self, state: SessionState, *, follows: bool = False) -> None:
        """`init` came. `follows`: we send no prompt, and bind the turn or prompt of our channel."""
        self._apply(Trigger.INIT_TO_FOLLOW if follows else Trigger.INIT)
        self._is_following = follows
        self.echo_on_dispatch = state.echo_on_dispatch
        self._queue_position = QueuePosition(state.prompts_queued)
        self._earlier_id = state.pending_id
        if state.runner_busy and not self.open_turns:
            self.open_turns.runner_busy()

    def prompt_sent(self) -> None:
        self._apply(Trigger.PROMPT_SENT)

    def _bind_prompt(self, prompt_id: str) -> None:
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
            if self._is_another_authors(data):
                self._apply(Trigger.PROMPT_DISOWNED)
                self.prompt_id = None
                return False
            self._handed_over(Trigger.PROMPT_ECHOED)
            return True
        if self._is_our_echo(data):
            self._bind_prompt(data.id)
            self._handed_over(Trigger.PROMPT_ECHOED)
            return True
        if self.echo_on_dispatch:
            self.open_turns.dispatched(data.channel)
        else:
            self.open_turns.prompted(data.channel)
        self._apply(Trigger.OTHER_ECHOED)
        return False

    def _is_another_authors(self, echo: MessageData) -> bool:
        """Whether we bound a waiting prompt of another user. Its echo is the first to say so."""
        is_first = self.stage is Stage.QUEUED and not self._is_following
        return is_first and echo.author_id not in {None, self._user_id}

    def _is_our_echo(self, echo: MessageData) -> bool:
        """Whether this is the echo that we wait for. Claims it for our stream."""
        return (
            self.stage is Stage.SENT
            and echo.author_id == self._user_id
            and echo.content == self._text
            and echo.channel == self.channel
            and self._member.claim(echo.id)
        )

    def note_queue_author(self, user_id: str | None) -> None:
        """The audit log names the author of the prompt that `queue.state` reports next."""
        self._queue_author_id = user_id

    def prompt_pending(self, pending: Pending) -> bool:
        """A and V: the agent reports the waiting prompt. True: it is ours, for the first time."""
        is_thread = self.channel.type == THREAD  # on other channels the report may lack the channel
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
        self._bind_prompt(pending.message_id)
        return self._apply(Trigger.PROMPT_WAITS)

    # Following a turn without a prompt of ours.

    def follow_work(self) -> None:
        """Our channel is at work, in a turn whose id we do not have."""
        self._apply(Trigger.WORK_FOUND)
        self.prompt_id = None

    def follow_turn(self, turn_id: str) -> None:
        """Bind this turn, which is running."""
        self._apply(Trigger.TURN_FOUND)
        self.prompt_id = None
        self.turn_id = turn_id
        self._member.follow(turn_id)

    def follow_prompt(self, prompt_id: str) -> None:
        """Bind this prompt, which the runner has."""
        self._apply(Trigger.PROMPT_DISPATCHED)
        self._bind_prompt(prompt_id)

    def await_prompt(self, prompt_id: str, position: int, length: int) -> None:
        """Bind this prompt, which waits at `position` (from 1) of a queue of `length` prompts."""
        self._apply(Trigger.PROMPT_WAITS)
        self._bind_prompt(prompt_id)
        self._queue_position.enter(position)
        for later in range(position + 1, length + 1):
            self._queue_position.enter_other(later)

    # The queue (page 6, step 4).

    def prompt_queued(self, data: StatusData) -> bool:
        """A prompt was queued. True: it is ours, for the first time."""
        if self.echo_on_dispatch:
            return False  # `queue.state` has reported it
        if self._apply(Trigger.PROMPT_QUEUED):
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
            self._handed_over(Trigger.PROMPT_DISPATCHED)
            return True
        if is_elsewhere and data.message_id is not None:
            self.open_turns.dispatched(data.channel)
        if not is_elsewhere:
            self.supersede()
        return self.stage is Stage.QUEUED and not self.echo_on_dispatch

    def queue_cleared(self, channel: Channel | None) -> bool:
        """The queue of one channel, or the whole queue, was cleared. True: our prompt was in it."""
        self._queue_position.clear()
        return self.is_queued and channel in {None, self.channel}

    def withdrawn(self, prompt_id: str) -> bool:
        """A prompt was taken out of the queue. True: it is ours."""
        return self.is_queued and prompt_id == self.prompt_id

    def runner_lost(self, queued: int | None) -> None:
        self._apply(Trigger.RUNNER_LOST)
        self._queue_position.requeued(queued)

    def runner_idle(self, prompt_id: str | None) -> bool:
        """The runner is idle. True: it was at work on our prompt (page 9, trap 8)."""
        self.open_turns.runner_idle()
        return self.owns_channel and prompt_id in {None, self.prompt_id}

    # The turn.

    def runner_working(self) -> None:
        """The runner reports that it is at work on our channel."""
        if not self._may_wait_yet:
            self._apply(Trigger.RUNNER_WORKING)

    @property
    def _may_wait_yet(self) -> bool:
        """Whether the runner may be at work on another turn: R sends the echo before "queued"."""
        is_open = self.stage is Stage.ECHOED and not self.echo_on_dispatch
        return is_open and bool(self.open_turns)

    def turn_began(self, turn_id: str, channel: Channel) -> bool:
        """A turn began. True: it is ours, for the first time or under a new id.

        It is not ours if another prompt of our channel was dispatched after ours: then our turn
        is over, even if no frame reported its end.
        """
        if channel == self.channel:
            if self.open_turns.is_due(channel):
                self.supersede()
            elif self._apply(Trigger.TURN_BEGAN):
                if self.turn_id is not None:
                    self.open_turns.exclude_former(self.turn_id)
                self.open_turns.exclude_ours(turn_id)
                self.turn_id = turn_id
                self._member.follow(turn_id)
                return True
        self.open_turns.turn_began(turn_id, channel)
        return False

    def turn_alive(self) -> None:
        """A frame of our turn came.

        If the runner was lost, it is back, and may continue without a new start.
        """
        if self.stage is not _RUNNING:  # most frames are text of a turn that runs
            self._apply(Trigger.TURN_ALIVE)

    def finish_part_received(self, *, is_canceled: bool) -> None:
        """Our turn reported its finish part; frames of it may follow."""
        self._apply(Trigger.FINISH_CANCELED if is_canceled else Trigger.FINISH_PART)

    def supersede(self) -> None:
        """Another prompt of our channel follows: assume that our turn is over."""
        self._apply(Trigger.OTHER_FOLLOWS)

    def end(self) -> None:
        """Nothing that follows concerns our stream."""
        self._apply(Trigger.END)

    def _handed_over(self, trigger: Trigger) -> None:
        """This trigger says that the runner has our prompt. It may have said so before."""
        was_lost = self.stage is Stage.RUNNER_LOST
        if not self._apply(trigger):
            return
        self.is_repeated = self.is_repeated or was_lost
        if self.echo_on_dispatch:
            self.open_turns.close_channel(self.channel)
        elif trigger is Trigger.PROMPT_DISPATCHED:
            self.open_turns.runner_idle()  # R runs one turn at a time
