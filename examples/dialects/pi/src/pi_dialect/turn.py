"""One turn, from the prompt until the agent has settled.

The events of pi name no prompt. In a process of our own all that come behind our prompt are ours.
In a shared one our turn goes from the message that repeats our text to the next message of a user,
or until the agent has settled.

The response to a prompt says that it was accepted, and not that it runs: an extension may have
handled it, and of two prompts at one moment pi drops the second. So a prompt that does not begin is
asked for (`get_state`), and its turn ends with a process that is idle.
"""

import enum
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw

import turnwire.dialect as td
from pi_dialect import commands, frames
from pi_dialect.dialogs import Dialogs
from pi_dialect.progress import Progress

STOP_S: Final = 5.0
"""How long pi may take to settle after an abort, in seconds."""
AGAIN_S: Final = 1.0
"""How long an idle process is given to begin our prompt, and an old pi to begin another attempt."""
LOOK_S: Final = 0.2
"""The time between two looks whether the turn before ours is over, in seconds."""
DEPTH: Final = 4
"""A line, its message, the content, a block."""

NEW_SESSION: Final = "new_session"
BEGINS_ANEW: Final = "The agent has nothing of this conversation any more: it begins anew"
CANNOT_OPEN: Final = "The agent cannot open this conversation"
UNOPENED: Final = "session that does not open"
NOT_AN_IMAGE: Final = "The agent takes no files but images"
REFUSED: Final = "The agent refused the prompt"
NEVER_RAN: Final = "The agent accepted the prompt, and did not run it"
HANDLED: Final = "handled"

_RUNS: Final = (
    *(frames.AgentStart, frames.MessageStart, frames.MessageUpdate, frames.MessageEnd),
    *(frames.ToolExecutionStart, frames.ToolExecutionUpdate, frames.ToolExecutionEnd),
)
"""Events that show that a prompt runs."""
_GOES_ON: Final = (frames.AutoRetryStart, frames.AgentStart, frames.MessageStart)
"""Events that show that an attempt was not the last one."""


class Stage(enum.Enum):
    WAITING = enum.auto()
    """Another turn of this gateway has the session."""
    OPENING = enum.auto()
    SENT = enum.auto()
    RUNNING = enum.auto()
    OVER = enum.auto()


class Turn(td.KeepsNothing):
    """One turn. `is_alone`: the process is that of our connection, and of no other."""

    accepted = True
    has_other_watchers = False

    def __init__(
        self, request: td.PromptRequest, member: td.Member | None, *, is_alone: bool
    ) -> None:
        self.frame_stats = td.FrameStats()
        self.queued = False
        self._id = request.prompt_id
        self._request: td.PromptRequest | None = request
        """The prompt, until it is sent."""
        self._text = "" if is_alone else request.text
        """What the message has where our turn begins."""
        self._has_images = bool(request.attachments)
        self._member = member or td.Member()
        self._is_alone = is_alone
        self._chat = (request.channel.type, request.channel.id) if is_alone else ()
        self._stage = Stage.OPENING
        self._progress = Progress(self.frame_stats)
        self._dialogs = Dialogs(self.frame_stats, has_answers=request.options.has_turn_log)
        self._is_switched = False
        self._is_anew = False
        self._is_accepted = False
        """Whether the response to our prompt came."""
        self._has_run = False
        """Whether a run began behind our prompt."""
        self._idle_since = td.NEVER
        """When the process was first idle, while our prompt had not begun."""
        self._is_settled = False
        self._others_wait = False
        self._is_stale = False
        self._is_stopping = False
        self._look_at = self._again_at = self._stop_at = td.NEVER

    # The connection.

    def connect_request(self) -> td.ConnectRequest:
        """Return the request that opens the connection: the address is all of it."""
        return td.ConnectRequest()

    def connection_opened(self, now: float) -> td.Decoded:
        """Ask for the state of the process, unless another turn has the session."""
        if self._request is not None and commands.images_of(self._request) is None:
            return self._over(error=NOT_AN_IMAGE)
        if self._chat in self._member.other_prompts:
            self._stage, self.queued = Stage.WAITING, True
            self._look_at = now + LOOK_S
            return td.Decoded([td.Queued()])
        return self._open()

    def connection_lost(self, _now: float) -> td.Decoded | None:
        """The process is gone: the turn is interrupted, unless it was to be stopped."""
        return self._over(is_canceled=True) if self._is_stopping else None

    @property
    def deadline(self) -> float:
        """When to call `tick`, in seconds."""
        if self._stage is Stage.OVER:
            return td.NEVER
        return min(self._look_at, self._again_at, self._stop_at, self._dialogs.deadline)

    @property
    def abort_scope(self) -> td.AbortScope:
        """Which turns an abort would stop: it names none."""
        if self._stage not in {Stage.SENT, Stage.RUNNING}:
            return td.AbortScope.NONE
        if self._is_alone:
            return td.AbortScope.OURS
        if self._is_stale:
            return td.AbortScope.NONE
        if self._stage is Stage.SENT or self._others_wait:
            return td.AbortScope.SHARED
        return td.AbortScope.OURS

    def begin_stop(self, now: float) -> td.Decoded | None:
        """Stop the turn, and wait until the agent has settled: its session file is whole then."""
        if self.abort_scope is not td.AbortScope.OURS:
            return None
        to_agent = self.abort()
        self._stop_at = min(self._stop_at, now + STOP_S)
        return td.Decoded(to_agent=to_agent)

    def abort(self) -> Sequence[bytes]:
        """Return what stops the turn, once. An abort leaves what waits in the queue as it is."""
        if self.abort_scope is not td.AbortScope.OURS or self._is_stopping:
            return ()
        self._is_stopping = True
        clear = [commands.clear_queue(self._id)] if self._is_alone else []
        return [*self._dialogs.cancel(), *clear, commands.abort(self._id)]

    def client_detached(self) -> None:
        """Do nothing: a turn has no other watchers."""

    def unwatched(self) -> None:
        """Do nothing, as above."""

    def mark_stale(self) -> None:
        """Note that events were not read for a while: in a shared process ours may be over."""
        self._is_stale = True

    def reply(self, reply: td.QuestionReply, _user_id: str, _now: float) -> td.Decoded:
        """Send the answer to a question of an extension."""
        return self._dialogs.reply(reply)

    def tick(self, now: float) -> td.Decoded:
        """Handle the deadlines that passed."""
        if now >= self._stop_at:
            return self._over(is_canceled=True)
        if now >= self._look_at:
            return self._look(now)
        if now >= self._again_at:
            self._again_at = td.NEVER
            if self._stage is Stage.RUNNING:
                return self._over()
            return td.Decoded(to_agent=[commands.get_state(self._id)])
        return td.Decoded(self._dialogs.expire(now))

    def prepare_frame(self, frame: bytes) -> Iterator[None]:
        """Count the values of a long line."""
        return td.census(frame, DEPTH)

    # The lines.

    def receive_frame(self, frame: bytes, now: float) -> td.Decoded | str | None:
        """Take one line."""
        line = frames.DECODER.read(frame, self.frame_stats)
        if line is None:
            return None
        match line:
            case _ if self._stage is Stage.OVER:
                return self._foreign()
            case frames.ExtensionUiRequest():
                return self._ask(line, now)
            case _ if self._stage is Stage.WAITING:
                return self._foreign()
            case frames.Response():
                return self._response(line, now)
            case frames.AgentSettled():
                return self._settled(line)
            case frames.QueueUpdate():
                return self._queue(line)
            case frames.MessageStart(message=message) if message.role == "user":
                return self._user_message(message)
            case _:
                return self._event(line, now)

    def _event(self, event: frames.Event, now: float) -> td.Decoded | str | None:
        begun: list[td.Event] = []
        if self._stage is Stage.SENT:
            self._has_run = self._has_run or isinstance(event, frames.AgentStart)
            if self._is_alone and isinstance(event, _RUNS):
                begun = self._begin()
        if self._stage is not Stage.RUNNING:
            if self._is_alone and self._stage is Stage.SENT:
                return td.Decoded(self._progress.take(event))
            return self._foreign()
        if isinstance(event, frames.AgentEnd):
            return self._attempt_ended(event, now)
        if isinstance(event, _GOES_ON):
            self._again_at = td.NEVER
        if self._is_stopping:
            return td.ALIVE
        events = self._progress.take(event)
        if not begun and len(events) == 1 and isinstance(events[0], td.TextDelta):
            return events[0].text
        return td.Decoded([*begun, *events])

    def _user_message(self, message: frames.AgentMessage) -> td.Decoded | None:
        if self._stage is Stage.RUNNING and not self._is_alone:
            return self._over()  # the turn of somebody else begins
        if self._stage is Stage.RUNNING:
            return td.ALIVE  # an extension adds a message
        if self._stage is Stage.SENT and (self._is_alone or self._is_our_text(message)):
            return td.Decoded(self._begin())
        return self._foreign()

    def _is_our_text(self, message: frames.AgentMessage) -> bool:
        """Whether a message has our text. Behind that pi may add what it did with images."""
        text = "".join(frames.text_of(block) for _, block in frames.blocks_of(message.content))
        return text == self._text or (self._has_images and text.startswith(f"{self._text}\n\n"))

    def _ask(self, request: frames.ExtensionUiRequest, now: float) -> td.Decoded | None:
        """An extension asks: whom, the wire does not say. It is ours while our turn runs."""
        if self._stage is not Stage.RUNNING and not self._is_alone:
            return self._foreign()
        if self._is_stopping:
            return td.Decoded(to_agent=self._dialogs.refuse(request.id))
        return self._dialogs.take(request, now)

    def _queue(self, queue: frames.QueueUpdate) -> td.Decoded:
        self._others_wait = bool(queue.follow_up or queue.steering)
        if self._is_alone or self._stage is not Stage.SENT or self.queued:
            return td.ALIVE
        if self._text in queue.follow_up:
            self.queued = True
            return td.Decoded([td.Queued()])
        return td.ALIVE

    def _attempt_ended(self, event: frames.AgentEnd, now: float) -> td.Decoded:
        """An attempt is over. An old pi does not say that it settled, nor whether it goes on."""
        if event.will_retry is None:
            if self._is_stopping or not self._progress.has_failed:
                return self._over()
            self._again_at = now + AGAIN_S
        return td.ALIVE

    def _settled(self, event: frames.AgentSettled) -> td.Decoded | None:
        if self._stage is Stage.RUNNING:
            if self._is_alone and not self._is_accepted and not self._is_stopping:
                self._is_settled = True  # a command of an extension goes on
                return td.ALIVE
            return self._over(is_canceled=event.aborted)
        if self._stage is not Stage.SENT:
            return self._foreign()
        self._has_run = True
        if not self._is_accepted:
            return self._foreign()
        return td.Decoded(to_agent=[commands.get_state(self._id)])

    # The responses.

    def _response(self, response: frames.Response, now: float) -> td.Decoded | None:
        is_unnamed = not response.id and not response.success and self._is_alone
        if response.id != self._id and not (is_unnamed and self._stage is not Stage.RUNNING):
            return self._foreign()
        state = frames.state_of(response)
        match response.command:
            case "abort" if self._is_stopping:
                return self._over(is_canceled=True)
            case "clear_queue" | "abort":
                return td.ALIVE
            case "switch_session" if not response.success or state.cancelled:
                self.frame_stats.count_left_out(UNOPENED, 0)
                return self._over(error=CANNOT_OPEN)
            case _ if not response.success:
                return self._over(error=response.error or REFUSED)
            case "switch_session" if self._stage is Stage.OPENING:
                return td.Decoded(to_agent=[commands.get_state(self._id)])
            case "get_state" if self._stage is Stage.OPENING:
                return self._opened(state)
            case "get_state" if self._stage is Stage.SENT:
                return self._looked(state, now)
            case "prompt":
                return self._prompt_accepted(state)
            case _:
                return td.ALIVE

    def _opened(self, state: frames.State) -> td.Decoded:
        """The process told its state: open the session file of our chat, or send the prompt."""
        request = self._request
        assert request is not None
        if self._is_alone and state.session_file and not self._is_switched:
            path = commands.session_path(request, state.session_file)
            if path is not None:
                self._is_switched = True
                return td.Decoded(to_agent=[commands.switch_session(self._id, path)])
        self._is_anew = request.has_earlier and not state.message_count
        images = commands.images_of(request) or ()
        self._request = None
        self._stage = Stage.SENT
        return td.Decoded(to_agent=[commands.prompt(request, images)])

    def _prompt_accepted(self, state: frames.State) -> td.Decoded:
        self._is_accepted = True
        if self._is_settled:
            return self._over()
        if self._stage is not Stage.SENT:
            return td.ALIVE
        if state.disposition == HANDLED:
            return self._handled()
        return td.Decoded(to_agent=[commands.get_state(self._id)])

    def _looked(self, state: frames.State, now: float) -> td.Decoded:
        """The process says whether it works. Idle for long: our prompt does not begin any more."""
        if state.is_streaming or state.is_compacting or state.pending_message_count:
            self._idle_since = self._again_at = td.NEVER
            return td.ALIVE
        if now < self._idle_since + AGAIN_S:
            self._idle_since = min(self._idle_since, now)
            self._again_at = self._idle_since + AGAIN_S
            return td.ALIVE
        return self._over(error=NEVER_RAN) if self._has_run else self._handled()

    def _handled(self) -> td.Decoded:
        """An extension took the prompt, and the model has nothing to say to it."""
        self._stage = Stage.OVER
        end = td.TurnFinished(reason=td.Reason.END_TURN)
        status = td.AgentStatus(HANDLED, "An extension of the agent took the message")
        return td.Decoded([td.TurnStarted(self._id), status, end])

    # The stages.

    def _open(self) -> td.Decoded:
        self._stage = Stage.OPENING
        self._member.prompt_channel = self._chat
        return td.Decoded(to_agent=[commands.get_state(self._id)])

    def _look(self, now: float) -> td.Decoded:
        """Open the session, if no other turn has it any more."""
        if self._chat in self._member.other_prompts:
            self._look_at = now + LOOK_S
            return td.Decoded()
        self._look_at = td.NEVER
        self.queued = False
        return self._open()

    def _begin(self) -> list[td.Event]:
        self._stage = Stage.RUNNING
        self.queued = False
        self._again_at = td.NEVER
        events: list[td.Event] = [td.TurnStarted(self._id)]
        if self._is_anew:
            data = Raw(msgspec.json.encode({"notice": NEW_SESSION, "text": BEGINS_ANEW}))
            events.append(td.AgentStatus(NEW_SESSION, BEGINS_ANEW))
            events.append(td.DataPart("notice", NEW_SESSION, data))
        return events

    def _over(self, *, is_canceled: bool = False, error: str | None = None) -> td.Decoded:
        """The turn is over, by the verdict of its last message unless there is another."""
        self._stage = Stage.OVER
        if error is not None and not self._is_stopping:
            return td.Decoded([td.TurnFinished(reason=td.Reason.ERROR, error=error)])
        return td.Decoded([self._progress.end(is_canceled=is_canceled or self._is_stopping)])

    def _foreign(self) -> td.Decoded | None:
        self.frame_stats.foreign += 1
        return None
