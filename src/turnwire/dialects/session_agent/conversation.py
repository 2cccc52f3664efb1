"""One prompt on one `session-agent` socket: frames and times in, events of our turn out.

What a frame means for whose turn it is lies in `whose`, what our turn says and
how it ends in `course`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias, assert_never

from turnwire.core import events, harmless
from turnwire.core.dialect import NEVER, Ask, Reach, Tally
from turnwire.core.events import Event, Reason, Told
from turnwire.core.room import Seat
from turnwire.dialects.session_agent import asking, ending, looking, outgoing, wire
from turnwire.dialects.session_agent.channel import ALLOWED
from turnwire.dialects.session_agent.course import ALIVE, Course
from turnwire.dialects.session_agent.hello import DEAD, hello
from turnwire.dialects.session_agent.whose import Stage, Whose

PING_S: Final = 30.0
"""Between two `ping`s (page 8)."""

ANSWER_S: Final = 30.0
"""Longest wait for `init`, and then for the echo of our prompt."""

_SLASH: Final = re.compile(r"/(?:status|sessions|clear|stop|refresh|help)")
"""What A and V run themselves instead of prompting the runner (page 3)."""

_Reading: TypeAlias = Callable[[wire.Read, float], Sequence[Event]]


class Conversation:
    """See `core.dialect.Conversation`."""

    def __init__(self, ask: Ask, seat: Seat) -> None:
        self.tally = Tally()
        self._ask = ask
        self._whose = Whose(ask, seat)
        self._seat = seat
        self._course = Course(self._whose, self.tally)
        self._ping_at = self._answer_at = NEVER
        self._joined = self._came_back = False
        """Whether our own socket was told as joining; our user came back."""
        self._pings = self._pongs = 0
        self._sure_after = 0
        """How many pongs have to be heard before what was heard is news again."""
        self._echoed_by = 0
        """By which of the pongs our prompt has been echoed."""

    @property
    def prompt_id(self) -> str | None:
        """The agent's id of our prompt, once its echo was found."""
        return self._whose.prompt_id

    @property
    def committed(self) -> bool:
        return self._whose.stage not in {Stage.GREETING, Stage.WAITING}

    @property
    def queued(self) -> bool:
        return self._whose.queued

    @property
    def accompanied(self) -> bool:
        return self._came_back or self._seat.accompanied

    def unattended(self) -> None:
        self._seat.unattended(self._ask.user_id)

    def unwatched(self) -> None:
        self._seat.unwatched()

    def doubt(self) -> None:
        """An abort names no turn here, so the pong of a new ping has to come first."""
        self._sure_after = self._pings + 1
        self._ping_at = -NEVER

    @property
    def deadline(self) -> float:
        if self._whose.stage is Stage.WAITING and self._seat.speak(self._ask.user_id):
            return -NEVER
        if self._whose.stage is Stage.OVER:
            return NEVER
        return min(self._ping_at, self._answer_at, self._course.ending.at)

    @property
    def reach(self) -> Reach:
        reach = self._whose.reach
        # A turn that may be over already: an abort would hit the next one (page 5.5, "Race").
        doubtful = self._course.ending.at < NEVER or self._pongs < self._sure_after
        suspected = reach is Reach.OURS and doubtful
        return Reach.OTHERS if suspected else reach

    def open(self, now: float) -> Sequence[Event]:
        """Nothing is sent before `init`: the session may be dead (page 6, step 1)."""
        self._ping_at = now + PING_S
        self._answer_at = now + ANSWER_S
        return ()

    def abort(self) -> Sequence[bytes]:
        return [outgoing.abort(self._whose.channel)] if self.reach is Reach.OURS else ()

    def tick(self, now: float) -> Sequence[Event]:
        if self._whose.stage is Stage.WAITING and self._seat.speak(self._ask.user_id):
            return self._speak(now)
        if now >= self._course.ending.at:
            return [self._course.expired()]
        if now >= self._answer_at:
            greeted = self._whose.stage is not Stage.GREETING
            self._seat.hush()
            return [self._course.fail(ending.NO_ECHO if greeted else ending.NO_INIT)]
        if now >= self._ping_at:
            self._ping_at = now + PING_S
            self._pings += 1
            return [events.Send(outgoing.PING)]
        return ()

    def look_into(self, frame: bytes) -> Iterator[None]:
        return looking.look_into(frame)

    def hear(self, frame: bytes, now: float) -> Told:
        heard = wire.read(frame, self.tally)
        if type(heard) is wire.ChunkDelta and heard.message_id == self._whose.turn_id:
            return self._course.delta(heard.content, now)
        if heard is None:
            return ()
        asked = self._whose.stage is Stage.ASKED
        told = self._looked_into(self._events, heard, now)
        if asked and self._whose.stage is not Stage.ASKED:
            self._seat.hush()
        return told

    def _looked_into(self, look: _Reading, heard: wire.Read, now: float) -> Sequence[Event]:
        try:
            return look(heard, now)
        except RecursionError:  # nested just so deeply that the first look at it went well
            self.tally.unread(b"")
            return ()

    def _events(self, heard: wire.Read, now: float) -> Sequence[Event]:
        whose = self._whose
        if whose.stage is Stage.OVER:
            return ()
        match heard:
            case wire.Init():
                return self._greeted(heard, now)
            case wire.Status(data) if data.status in DEAD:
                return self._died()
            case wire.Pong():
                self._pongs += 1
                if self._pongs == self._echoed_by:
                    whose.echoed()
                return ()
            case wire.Skipped():
                return ()
            case wire.UserJoined(user_id):
                return self._user_joined(user_id)
            case wire.ChunkDelta(message_id=turn_id):
                whose.others.saw(turn_id, heard.channel)
                return self._foreign()
            case wire.Updated(data) if data.id == whose.turn_id:
                return self._course.snapshot(data, now)
            case wire.Updated(data):
                if data.is_finished:
                    whose.others.closed(data.id)
                elif data.role == "assistant" and data.parts:
                    whose.others.saw(data.id, data.channel)
                return self._foreign()
            case wire.Message(data):
                return self._message(data, now)
            case wire.AgentStatus(status=status, detail=detail):
                if status == "idle":
                    self._course.ending.idled = heard.named
                if heard.channel != whose.channel or not whose.concerned:
                    return self._foreign()
                if status == "idle":
                    return self._course.idle(heard, now)
                whose.at_it()
                self._course.life(now)
                return [events.AgentStatus(status, detail)]
            case wire.Status(data):
                return self._status(data, now)
            case wire.Question() if heard.channel == whose.channel and whose.concerned:
                return self._course.asked(asking.question(heard), now)
            case wire.InteractivePrompt() if (
                asking.channel(heard) == whose.channel and whose.concerned
            ):
                return self._course.asked(asking.prompt(heard), now)
            case wire.Question(question_id=question_id):
                self._course.asked_elsewhere(question_id, heard.channel)
                return self._foreign()
            case wire.InteractivePrompt(prompt=prompt):
                self._course.asked_elsewhere(prompt.id, asking.channel(heard))
                return self._foreign()
            case wire.Resolved():
                return self._resolved(heard, now)
            case wire.Expired(prompt_id=question_id):
                closed = events.QuestionClosed(question_id, expired=True)
                return self._course.closed(closed, asking.closed_on(heard), now)
            case wire.AgentError():
                return self._error(heard, now)
            case wire.QueueState(data):
                if data.pending is None or not whose.pending(data.pending):
                    return ()
                return self._queued()
            case wire.Withdrawn(data):
                if whose.withdrawn(data.message_id):
                    return [self._course.fail(ending.EVICTED)]
                return self._foreign()
            case wire.AuditLog(entry):
                if entry.is_live and entry.event_type == "user.abort":
                    return self._course.aborted(entry, now)
                if entry.is_live and entry.event_type == "prompt.queued":
                    whose.queued_by(entry.actor_id)
                return ()
            case _:
                assert_never(heard)

    def _user_joined(self, user_id: str | None) -> Sequence[Event]:
        """A socket of our user's was opened: the first one is this one (page 4.1)."""
        if user_id != self._ask.user_id:
            return ()
        if self._joined and self._seat.joined(user_id):
            self._came_back = True
        self._joined = True
        return ALIVE if self._came_back else ()

    # The prompt.

    def _greeted(self, init: wire.Init, now: float) -> Sequence[Event]:
        if self._whose.stage is not Stage.GREETING:
            return ()
        said = hello(init)
        if said.is_dead or self._whose.channel[0] not in ALLOWED:
            return [events.Refused()]
        self._whose.greeted(said)
        self._answer_at = NEVER
        return self._speak(now) if self._seat.speak(self._ask.user_id) else ALIVE

    def _speak(self, now: float) -> Sequence[Event]:
        """Send the prompt: until its echo no other conversation of ours sends one here."""
        self._whose.stage = Stage.ASKED
        self._seat.asked = self._whose.channel
        self._answer_at = now + ANSWER_S
        if self._seat.apart:  # its pong tells that what was echoed before it is ours
            self.doubt()
            self._echoed_by = self._sure_after
        prompt = outgoing.prompt(self._ask, self._whose.channel)
        self._ask = self._ask.light()  # the text will come back, the files do not
        return [events.Send(prompt), *ALIVE]

    def _died(self) -> Sequence[Event]:
        if not self.committed:
            return [events.Refused()]
        return [self._course.died()]

    def _message(self, data: wire.MessageData, now: float) -> Sequence[Event]:
        whose = self._whose
        # A forwarded message has content, or an object for its parts (page 9, trap 23).
        if data.role == "assistant" and data.content == "" and bytes(data.parts) == b"[]":
            return self._course.began(data, now)
        if data.role == "user":
            if whose.user_message(data):
                self._answer_at = NEVER
                return ALIVE
            if whose.stage is Stage.ASKED and self._answer_at == NEVER:
                self._answer_at = now + ANSWER_S  # what we took for ours was another's
            if self._course.ending.at < NEVER and data.channel == whose.channel:
                whose.passed()
        swallowed = whose.stage is Stage.ASKED and whose.defers and data.role == "system"
        if swallowed and _SLASH.fullmatch(self._ask.text):
            said = events.TextDelta(data.content or "")
            end = self._course.over(events.TurnFinished(reason=Reason.END_TURN))
            return [events.TurnStarted(data.id), said, end]
        return self._foreign()

    def _queued(self) -> Sequence[Event]:
        self._answer_at = NEVER
        return [events.Queued()]

    def _status(self, data: wire.StatusData, now: float) -> Sequence[Event]:
        whose = self._whose
        if data.prompt_queued:
            return self._queued() if whose.prompt_queued(data) else ()
        if data.prompt_dequeued:
            return self._dequeued(data, now)
        if data.collect_pending:
            whose.others.collected(data.channel)
        if data.queue_cleared:
            return [self._course.fail(ending.DROPPED)] if whose.queue_cleared(data.named) else ()
        if data.runner_disconnected:
            whose.runner_lost(data.queued_prompts)
            if whose.stage is Stage.LOST:
                self._course.ending.life()
        elif data.runner_busy is False:
            return self._idled(data, now)
        elif data.question_answered is not None:
            answer = wire.given(data.answer)
            closed = events.QuestionClosed(data.question_answered, answer=answer)
            return self._course.closed(closed, data.named, now)
        elif data.question_expired is not None:
            closed = events.QuestionClosed(data.question_expired, expired=True)
            return self._course.closed(closed, data.named, now)
        lifecycle = data.status is not None or data.runner_connected or data.runner_disconnected
        return ALIVE if lifecycle else ()

    def _dequeued(self, data: wire.StatusData, now: float) -> Sequence[Event]:
        if self._whose.stage is Stage.QUEUED:
            self._course.ending.life()
        ours = self._whose.prompt_dequeued(data)
        if self._whose.stage is Stage.PASSED:
            return self._course.completed(now)
        if data.message_id is None or data.channel == self._whose.channel:
            return self._course.lingered() or (ALIVE if ours else ())
        return ALIVE if ours else ()

    def _idled(self, data: wire.StatusData, now: float) -> Sequence[Event]:
        """The session drained: our turn is over, unless this was told early (page 5.6)."""
        if data.aborted and self._whose.stage is Stage.QUEUED:
            # Ours is gone, unless it was queued after that abort: then the queue moves on at once.
            self._course.ending.error = ending.DROPPED
            self._course.ending.by(now + ending.COMPLETION_GRACE_S)
            return ALIVE
        if self._whose.runner_idle(data.message_id):
            if data.aborted:
                self._course.ending.aborted = True
            return self._course.completed(now)
        if self._whose.stage in {Stage.WORKING, Stage.RUNNING}:
            # V: no channel is busy any more, though nothing told that ours is done.
            self._course.ending.by(now + ending.REPEATED_GRACE_S)
        return self._course.lingered()

    def _error(self, error: wire.AgentError, now: float) -> Sequence[Event]:
        whose = self._whose
        said, replied = harmless.words(error.error), harmless.words(error.message)
        reply = replied is not None and said is None and error.message_id is None
        text = said or replied or ""
        if reply and whose.stage is Stage.ASKED:
            # Some attachments were refused, and the prompt proceeds with the rest (page 3).
            if text.startswith("Unsupported file type"):
                return ALIVE
            return [self._course.fail(text)]
        everywhere = error.named is None and error.message_id is None and error.prompt_id is None
        if whose.stage is Stage.QUEUED and everywhere:
            self._course.ending.error = text  # why the session will have ended, if it does
            return ALIVE
        here = everywhere or (error.prompt_id is None and error.channel == whose.channel)
        if reply or not here or not whose.concerned:
            return self._foreign()
        return self._course.failed(text, now)

    # Questions.

    def _resolved(self, resolved: wire.Resolved, now: float) -> Sequence[Event]:
        resolution = resolved.resolution
        answer = wire.given(resolution.value) or wire.given(resolution.action_id)
        if (
            self._whose.stage is Stage.ASKED
            and answer is not None
            and harmless.string(answer) == self._ask.text
            and resolution.resolved_by in {None, self._ask.user_id}
            and resolved.named in {None, self._whose.channel}
        ):
            return [self._course.fail(ending.ANSWERED)]
        closed = events.QuestionClosed(resolved.prompt_id, answer=answer)
        return self._course.closed(closed, resolved.named, now)

    def _foreign(self) -> Sequence[Event]:
        self.tally.foreign += 1
        return ()
