"""One prompt on one `session-agent` socket: frames and times in, events of our turn out.

What a frame means for whose turn it is lies in `whose`; what a snapshot has
that is new in `snapshot`; when a turn without a finish is over in `ending`.
"""

import re
from collections.abc import Sequence
from typing import Final, assert_never

from turnwire.core import events, harmless
from turnwire.core.dialect import NEVER, Ask, Reach, Tally
from turnwire.core.events import Event, Reason, Told
from turnwire.dialects.session_agent import asking, ending, outgoing, wire
from turnwire.dialects.session_agent.channel import ALLOWED
from turnwire.dialects.session_agent.claims import Claims, Unshared
from turnwire.dialects.session_agent.hello import DEAD, hello
from turnwire.dialects.session_agent.snapshot import Snapshots, finished
from turnwire.dialects.session_agent.whose import Stage, Whose

PING_S: Final = 30.0
"""Between two `ping`s (page 8)."""

ANSWER_S: Final = 30.0
"""Longest wait for `init`, and then for the echo of our prompt."""

_SLASH: Final = re.compile(r"/(?:status|sessions|clear|stop|refresh|help)")
"""What A and V run themselves instead of prompting the runner (page 3)."""

_ALIVE: Final = (events.Alive(),)


class Conversation:
    """See `core.dialect.Conversation`."""

    def __init__(self, ask: Ask, claims: Claims | None = None) -> None:
        self.tally = Tally()
        self._ask = ask
        self._whose = Whose(ask, Unshared() if claims is None else claims)
        self._ending = ending.Ending()
        self._snapshots = Snapshots()
        self._asking = asking.Asking()
        self._finished: events.TurnFinished | None = None
        self._spoke = self._chunked = False
        self._ping_at = self._answer_at = NEVER

    @property
    def prompt_id(self) -> str | None:
        """The agent's id of our prompt, once its echo was found."""
        return self._whose.prompt_id

    @property
    def committed(self) -> bool:
        return self._whose.stage is not Stage.GREETING

    @property
    def queued(self) -> bool:
        return self._whose.queued

    @property
    def deadline(self) -> float:
        return min(self._ping_at, self._answer_at, self._ending.at)

    @property
    def reach(self) -> Reach:
        reach = self._whose.reach
        # A turn that may be over already: an abort would hit the next one (page 5.5, "Race").
        return Reach.NOTHING if reach is Reach.OURS and self._ending.at < NEVER else reach

    def open(self, now: float) -> Sequence[Event]:
        """Nothing is sent before `init`: the session may be dead (page 6, step 1)."""
        self._ping_at = now + PING_S
        self._answer_at = now + ANSWER_S
        return ()

    def abort(self) -> Sequence[bytes]:
        return [outgoing.abort(self._whose.channel)] if self.reach is Reach.OURS else ()

    def tick(self, now: float) -> Sequence[Event]:
        if now >= self._ending.at:
            return [self._over(self._finished or self._ending.verdict(spoke=self._spoke))]
        if now >= self._answer_at:
            greeted = self._whose.stage is not Stage.GREETING
            return [self._fail(ending.NO_ECHO if greeted else ending.NO_INIT)]
        if now >= self._ping_at:
            self._ping_at = now + PING_S
            return [events.Send(outgoing.PING)]
        return ()

    def hear(self, frame: bytes, now: float) -> Told:
        heard = wire.read(frame, self.tally)
        if type(heard) is wire.ChunkDelta and heard.message_id == self._whose.turn_id:
            return self._delta(heard.content, now)
        return () if heard is None else self._events(heard, now)

    def _delta(self, text: str, now: float) -> Told:
        if self._finished is not None:
            return ""  # its text is complete
        if text:
            self._spoke = self._chunked = True
        self._whose.alive()
        self._life(now)
        return text

    def _events(self, heard: wire.Read, now: float) -> Sequence[Event]:
        whose = self._whose
        if whose.stage is Stage.OVER:
            return ()
        match heard:
            case wire.Init():
                return self._greeted(heard, now)
            case wire.Status(data) if data.status in DEAD:
                return self._died()
            case wire.Skipped():
                return ()
            case wire.ChunkDelta(message_id=turn_id):
                whose.others.saw(turn_id, heard.channel)
                return self._foreign()
            case wire.Updated(data) if data.id == whose.turn_id:
                return self._snapshot(data, now)
            case wire.Updated(data):
                if finished(data):
                    whose.others.closed(data.id)
                elif data.role == "assistant" and data.parts:
                    whose.others.saw(data.id, data.channel)
                return self._foreign()
            case wire.Message(data):
                return self._message(data, now)
            case wire.AgentStatus(status=status, detail=detail):
                if heard.channel != whose.channel or not whose.concerned:
                    return self._foreign()
                if status == "idle":
                    return self._idle(heard, now)
                whose.at_it()
                self._life(now)
                return [events.AgentStatus(status, detail)]
            case wire.Status(data):
                return self._status(data, now)
            case wire.Question() if heard.channel == whose.channel and whose.concerned:
                return self._asked(asking.question(heard), now)
            case wire.InteractivePrompt() if (
                asking.channel(heard) == whose.channel and whose.concerned
            ):
                return self._asked(asking.prompt(heard), now)
            case wire.Question() | wire.InteractivePrompt():
                return self._foreign()
            case wire.Resolved():
                return self._resolved(heard, now)
            case wire.Expired(question_id):
                return self._closed(events.QuestionClosed(question_id, expired=True), now)
            case wire.AgentError():
                return self._error(heard, now)
            case wire.QueueState(data):
                if data.pending is None or not whose.pending(data.pending):
                    return ()
                return self._queued()
            case wire.Withdrawn(data):
                if whose.stage is Stage.QUEUED and data.message_id == whose.prompt_id:
                    return [self._fail(ending.EVICTED)]
                return self._foreign()
            case wire.AuditLog(entry):
                # The history that A and V tell after `init` has its times as numbers (page 4.1).
                if entry.event_type == "user.abort" and bytes(entry.created_at).startswith(b'"'):
                    return self._aborted(now)
                return ()
            case _:
                assert_never(heard)

    # The prompt.

    def _greeted(self, init: wire.Init, now: float) -> Sequence[Event]:
        if self._whose.stage is not Stage.GREETING:
            return ()
        said = hello(init)
        if said.is_dead or self._whose.channel[0] not in ALLOWED:
            return [events.Refused()]
        self._whose.greeted(said)
        self._answer_at = now + ANSWER_S
        return [events.Send(outgoing.prompt(self._ask.text, self._whose.channel)), *_ALIVE]

    def _died(self) -> Sequence[Event]:
        if self._whose.stage is Stage.GREETING:
            return [events.Refused()]
        if self._finished is not None:
            return [self._over(self._finished)]
        return [self._fail(self._ending.error or ending.SESSION_OVER)]

    def _message(self, data: wire.MessageData, now: float) -> Sequence[Event]:
        whose = self._whose
        # A forwarded message has content, or an object for its parts (page 9, trap 23).
        if data.role == "assistant" and data.content == "" and bytes(data.parts) == b"[]":
            return self._began(data)
        if data.role == "user":
            if whose.user_message(data):
                self._answer_at = NEVER
                return _ALIVE
            if whose.stage is Stage.ASKED and self._answer_at == NEVER:
                self._answer_at = now + ANSWER_S  # what we took for ours was another's
            if self._ending.at < NEVER and data.channel == whose.channel:
                whose.passed()
        swallowed = whose.stage is Stage.ASKED and whose.defers and data.role == "system"
        if swallowed and _SLASH.fullmatch(self._ask.text):
            said = events.TextDelta(data.content or "")
            end = self._over(events.TurnFinished(reason=Reason.END_TURN))
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
        if data.queue_cleared:
            return [self._fail(ending.DROPPED)] if whose.queue_cleared(data.named) else ()
        if data.runner_disconnected:
            whose.runner_lost(data.queued_prompts)
            if whose.stage is Stage.LOST:
                self._ending.life()
        elif data.runner_busy is False:
            return self._idled(data, now)
        elif data.question_answered is not None:
            answer = data.answer or None
            return self._closed(events.QuestionClosed(data.question_answered, answer=answer), now)
        elif data.question_expired is not None:
            return self._closed(events.QuestionClosed(data.question_expired, expired=True), now)
        lifecycle = data.status is not None or data.runner_connected or data.runner_disconnected
        return _ALIVE if lifecycle else ()

    def _dequeued(self, data: wire.StatusData, now: float) -> Sequence[Event]:
        ours = self._whose.prompt_dequeued(data)
        if self._whose.stage is Stage.PASSED:
            return self._completed(now)
        if data.message_id is None or data.channel == self._whose.channel:
            return self._lingered() or (_ALIVE if ours else ())
        return _ALIVE if ours else ()

    def _idled(self, data: wire.StatusData, now: float) -> Sequence[Event]:
        """The session drained: our turn is over, unless this was told early (page 5.6)."""
        if data.aborted and self._whose.stage is Stage.QUEUED:
            return [self._fail(ending.DROPPED)]
        if self._whose.runner_idle(data.message_id):
            self._ending.aborted = self._ending.aborted or data.aborted
            return self._completed(now)
        return self._lingered()

    def _completed(self, now: float) -> Sequence[Event]:
        """A completion alone may be told early; after an error or an abort it is the end."""
        if self._ending.explained:
            return [self._over(self._ending.verdict(spoke=self._spoke))]
        self._ending.by(now + ending.COMPLETION_GRACE_S)
        return _ALIVE

    # The turn.

    def _began(self, data: wire.MessageData) -> Sequence[Event]:
        if not self._whose.began(data.id, data.channel):
            return self._foreign()
        self._snapshots = Snapshots()
        self._finished = None
        self._chunked = False
        self._ending.life()
        return [events.TurnStarted(data.id)]

    def _snapshot(self, snapshot: wire.Snapshot, now: float) -> Sequence[Event]:
        news = self._snapshots.news(snapshot)
        told: list[Event] = list(news.tools)
        self._spoke = self._spoke or bool(told)
        if self._finished is not None:  # tools that the runner flushed after the end
            waits = news.tools_open or self._whose.stage is Stage.CANCELED
            return [*told, *(() if waits else self._lingered())] or _ALIVE
        self._whose.alive()
        if news.finish is None:
            self._life(now)
            return told or _ALIVE
        error = news.error or self._ending.error
        end = events.TurnFinished(reason=news.finish, final_text=news.text or None, error=error)
        if news.text and not self._chunked:
            # No delta came at all: the text is there alone (page 5.7).
            told.append(events.TextDelta(news.text))
            end = events.TurnFinished(reason=news.finish, error=error)
        # A prompt whose turn was canceled by a restart goes on under a new id (page 5.4).
        if news.finish is not Reason.CANCELED and not news.tools_open:
            return [*told, self._over(end)]
        self._finished = end
        canceled = news.finish is Reason.CANCELED
        self._whose.stage = Stage.CANCELED if canceled else Stage.FINISHED
        self._ending.life()
        self._ending.by(now + (ending.COMPLETION_GRACE_S if canceled else ending.LINGER_S))
        return told or _ALIVE

    def _lingered(self) -> Sequence[Event]:
        """Nothing more follows the finish that we have."""
        return () if self._finished is None else [self._over(self._finished)]

    def _idle(self, status: wire.AgentStatus, now: float) -> Sequence[Event]:
        """Never an end by itself: it comes while a question waits, and late (page 5.6)."""
        if status.named is None:
            return ()  # the third one of an abort, which other turns ignore (page 5.5)
        if self._ending.aborted:
            self._ending.by(now + ending.COMPLETION_GRACE_S)
        return _ALIVE

    def _aborted(self, now: float) -> Sequence[Event]:
        """Somebody aborted; no finish will follow (page 5.5)."""
        whose = self._whose
        if whose.stage is Stage.QUEUED and not whose.defers:
            return [self._fail(ending.DROPPED)]  # R empties its queue with every abort
        if whose.concerned:
            self._ending.aborted = True
            if not whose.defers:  # on V it may have been for another channel
                self._ending.by(now + ending.ABORT_GRACE_S)
        return ()

    def _error(self, error: wire.AgentError, now: float) -> Sequence[Event]:
        whose = self._whose
        reply = bool(error.message) and not error.error and error.message_id is None
        text = harmless.words(error.error) or harmless.words(error.message) or ""
        if reply and whose.stage is Stage.ASKED:
            # Some attachments were refused, and the prompt proceeds with the rest (page 3).
            if text.startswith("Unsupported file type"):
                return _ALIVE
            return [self._fail(text)]
        everywhere = error.named is None and error.message_id is None and error.prompt_id is None
        if whose.stage is Stage.QUEUED and everywhere:
            self._ending.error = text  # why the session will have ended, if it does
            return _ALIVE
        here = everywhere or (error.prompt_id is None and error.channel == whose.channel)
        if reply or not here or not whose.concerned:
            return self._foreign()
        self._ending.error = text
        self._ending.by(now + ending.ERROR_GRACE_S)
        return _ALIVE

    # Questions.

    def _asked(self, question: events.Question, now: float) -> Sequence[Event]:
        self._asking.asked(question.question_id)
        self._life(now)
        return [question]

    def _resolved(self, resolved: wire.Resolved, now: float) -> Sequence[Event]:
        resolution = resolved.resolution
        answer = resolution.value or resolution.action_id
        if (
            self._whose.stage is Stage.ASKED
            and harmless.string(answer) == self._ask.text
            and resolution.resolved_by in {None, self._ask.user_id}
        ):
            return [self._fail(ending.ANSWERED)]
        return self._closed(events.QuestionClosed(resolved.prompt_id, answer=answer or None), now)

    def _closed(self, closed: events.QuestionClosed, now: float) -> Sequence[Event]:
        if not self._asking.closed(closed.question_id):
            return self._foreign()
        self._life(now)
        return [closed]

    # What follows from it.

    def _life(self, now: float) -> None:
        """Our turn goes on, whatever was suspected."""
        if self._finished is None:
            self._ending.life()
            if self._whose.stage is Stage.PASSED:
                self._ending.by(now + ending.COMPLETION_GRACE_S)

    def _fail(self, text: str) -> Event:
        return self._over(events.TurnFinished(reason=Reason.ERROR, error=text))

    def _over(self, end: events.TurnFinished) -> Event:
        self._whose.stage = Stage.OVER
        self._finished = end
        self._ping_at = self._answer_at = NEVER
        self._ending.life()
        return end

    def _foreign(self) -> Sequence[Event]:
        self.tally.foreign += 1
        return ()
