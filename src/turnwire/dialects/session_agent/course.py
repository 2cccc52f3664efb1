"""The course of our turn, from its first sign to its end: what its frames tell.

Which frames are of our turn `whose` knows. What a snapshot has that is new
lies in `snapshot`, when a turn without a finish is over in `ending`.
"""

from collections.abc import Sequence

from turnwire.core import events
from turnwire.core.dialect import NEVER, Tally
from turnwire.core.events import Event, Reason, Told
from turnwire.dialects.session_agent import asking, ending, wire
from turnwire.dialects.session_agent.channel import Channel
from turnwire.dialects.session_agent.snapshot import Snapshots
from turnwire.dialects.session_agent.whose import Stage, Whose

ALIVE = (events.Alive(),)


class Course:
    """What our turn said, and whether it is over."""

    def __init__(self, whose: Whose, tally: Tally) -> None:
        self.ending = ending.Ending()
        self._whose = whose
        self._tally = tally
        self._snapshots = Snapshots()
        self._asking = asking.Asking(whose.channel)
        self._finished: events.TurnFinished | None = None
        self._spoke = self._chunked = False

    # Its frames.

    def joined(self) -> None:
        """It was under way when we came: it spoke, and its text is told by other means."""
        self._spoke = self._chunked = True

    def delta(self, text: str, now: float) -> Told:
        if self._finished is not None:
            return ""  # its text is complete
        if text:
            self._spoke = self._chunked = True
        self._whose.alive()
        self.life(now)
        return text

    def began(self, data: wire.MessageData, now: float) -> Sequence[Event]:
        """A turn began; ours goes on under every id that it is told by."""
        whose = self._whose
        if data.id == whose.turn_id:
            return ALIVE  # told again
        if not whose.began(data.id, data.channel):
            self._tally.foreign += 1
            passed = whose.stage is Stage.PASSED and self.ending.at == NEVER
            return self.completed(now) if passed else ()
        self._snapshots = Snapshots()
        self._finished = None
        self.ending.life()
        return [events.TurnStarted(data.id)]

    def snapshot(self, snapshot: wire.Snapshot, now: float) -> Sequence[Event]:
        news = self._snapshots.news(snapshot)
        self._tally.left_out(news.left_out)
        told: list[Event] = list(news.tools)
        self._spoke = self._spoke or bool(told)
        if self._finished is not None:  # tools that the runner flushed after the end
            waits = news.tools_open or self._whose.stage is Stage.CANCELED
            return [*told, *(() if waits else self.lingered())] or ALIVE
        self._whose.alive()
        if news.finish is None:
            self.life(now)
            return told or ALIVE
        error = news.error or self.ending.error
        end = events.TurnFinished(reason=news.finish, final_text=news.text or None, error=error)
        if news.text and not self._chunked:
            # No delta came at all: the text is there alone (page 5.7).
            told.append(events.TextDelta(news.text))
            end = events.TurnFinished(reason=news.finish, error=error)
        # A prompt whose turn was canceled by a restart goes on under a new id (page 5.4).
        if news.finish is not Reason.CANCELED and not news.tools_open:
            return [*told, self.over(end)]
        self._finished = end
        canceled = news.finish is Reason.CANCELED
        self._whose.stage = Stage.CANCELED if canceled else Stage.FINISHED
        self.ending.life()
        self.ending.by(now + (ending.COMPLETION_GRACE_S if canceled else ending.LINGER_S))
        return told or ALIVE

    def asked(self, question: events.Question, now: float) -> Sequence[Event]:
        self._asking.asked(question.question_id)
        self.life(now)
        return [question]

    def asked_elsewhere(self, question_id: str, its: Channel) -> None:
        self._asking.elsewhere(question_id, its)

    def closed(
        self, closed: events.QuestionClosed, named: Channel | None, now: float
    ) -> Sequence[Event]:
        """A question was closed, on this channel if one is named."""
        if not self._asking.closed(closed.question_id, named):
            self._tally.foreign += 1
            return ()
        self.life(now)
        return [closed]

    def idle(self, status: wire.AgentStatus, now: float) -> Sequence[Event]:
        """Never an end by itself: it comes while a question waits, and late (page 5.6)."""
        if status.named is None:
            return ()  # the third one of an abort, which other turns ignore (page 5.5)
        if self.ending.aborted:
            self.ending.by(now + ending.COMPLETION_GRACE_S)
        return ALIVE

    # Its end, where no finish tells it.

    def aborted(self, entry: wire.Entry, now: float) -> Sequence[Event]:
        """Somebody aborted; no finish will follow (page 5.5)."""
        whose = self._whose
        stops = self.ending.stops(whose.channel, entry.summary or "")
        if stops is None and not whose.defers:
            stops = True  # R aborts whatever runs
        if stops is False:
            return ()
        if whose.stage is Stage.QUEUED and not whose.defers:
            return [self.fail(ending.DROPPED)]  # R empties its queue with every abort
        if whose.concerned:
            self.ending.aborted = True
            if stops:
                self.ending.by(now + ending.ABORT_GRACE_S)
        return ()

    def failed(self, text: str, now: float) -> Sequence[Event]:
        """An error of our turn; it may start over even so."""
        self.ending.error = text
        self.ending.by(now + ending.ERROR_GRACE_S)
        return ALIVE

    def completed(self, now: float) -> Sequence[Event]:
        """A completion alone may be told early; after an error or an abort it is the end."""
        if self.ending.explained:
            return [self.expired()]
        twice = self._whose.is_repeated
        self.ending.by(now + (ending.REPEATED_GRACE_S if twice else ending.COMPLETION_GRACE_S))
        return ALIVE

    def lingered(self) -> Sequence[Event]:
        """Nothing more follows the finish that we have."""
        return () if self._finished is None else [self.over(self._finished)]

    def expired(self) -> Event:
        """Its end is believed: nothing more is waited for."""
        return self.over(self._finished or self.ending.verdict(spoke=self._spoke))

    def died(self) -> Event:
        """The session is over, and our turn with it."""
        if self._finished is not None:
            return self.over(self._finished)
        return self.fail(self.ending.error or ending.SESSION_OVER)

    def life(self, now: float) -> None:
        """It goes on, whatever was suspected."""
        if self._finished is None:
            self.ending.life()
            if self._whose.stage is Stage.PASSED:
                self.ending.by(now + ending.COMPLETION_GRACE_S)

    def fail(self, text: str) -> Event:
        return self.over(events.TurnFinished(reason=Reason.ERROR, error=text))

    def over(self, end: events.TurnFinished) -> Event:
        self._whose.stage = Stage.OVER
        self._finished = end
        self.ending.life()
        return end
