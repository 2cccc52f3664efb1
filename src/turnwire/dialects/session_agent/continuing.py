"""Answering questions of the turn that runs, and following it from there.

R's `init` tells the turn, so it goes on at once. A and V say only that it waits:
what comes after the answers is held until a snapshot tells what came before.
Then tools are told from the last calls on, to which the questions belong, and
text by its length: the client's message says how much of it the client has.

The headers are held until the agent took the answers. It may refuse one (an
approval is its owner's), or somebody else may have been faster.
"""

import enum
from collections.abc import Sequence

import msgspec
from msgspec import Raw

from turnwire.core import events
from turnwire.core.bounds import KEPT_BYTES_MAX
from turnwire.core.dialect import NEVER, Look, Reach
from turnwire.core.errand import Answered
from turnwire.core.events import Event, Phase, Told
from turnwire.core.refusal import Refusal
from turnwire.core.room import Seat
from turnwire.core.waiting import Waiting
from turnwire.dialects.session_agent import answers, asking, hydration, wire
from turnwire.dialects.session_agent.answering import ASKED_S
from turnwire.dialects.session_agent.conversation import Conversation
from turnwire.dialects.session_agent.course import ALIVE
from turnwire.dialects.session_agent.given import Given
from turnwire.dialects.session_agent.hello import DEAD, hello
from turnwire.dialects.session_agent.resuming import Resuming
from turnwire.dialects.session_agent.retelling import last_calls
from turnwire.dialects.session_agent.whose import Stage

_OUTCOMES = frozenset({Phase.COMPLETED, Phase.ERROR})


class _Step(enum.Enum):
    LOOKING = enum.auto()
    """For the questions: nothing is answered unless all of them are open."""
    ANSWERED = enum.auto()
    """What the turn said before is not known yet (A, V)."""
    FOLLOWING = enum.auto()


class Continuing(Resuming):
    """A `Resuming` with replies: all of its questions must be open, or none is answered."""

    def __init__(self, look: Look, seat: Seat) -> None:
        super().__init__(look, seat)
        self._step = _Step.LOOKING
        self._given = {r.question_id: Given(r, look.terms) for r in look.replies}
        self._turn: wire.Snapshot | None = None
        """What `init` says of it (R)."""
        self._is_mine = False
        """Whether our user asked for it, or nobody knows who did; A and V do not say."""
        self._known: dict[str, events.Question] = {}
        """Questions that the client has. What was shown of a long one is not needed any more."""
        self._held = Waiting()
        """What is news to it."""

    @property
    def committed(self) -> bool:
        """Whether the agent took every answer."""
        given = self._given.values()
        return self._found and all(isinstance(each.result, Answered) for each in given)

    @property
    def reach(self) -> Reach:
        is_ours = self._is_mine and not self._seat.accompanied
        if self._step is _Step.LOOKING or not is_ours:
            return Reach.NOTHING
        return super(Resuming, self).reach

    def unattended(self) -> None:
        Conversation.unattended(self)

    def tick(self, now: float) -> Sequence[Event]:
        return list(map(_without_text, self._continued(super().tick(now))))

    def hear(self, frame: bytes, now: float) -> Told:
        if self._step is not _Step.LOOKING:
            told = super().hear(frame, now)
            return told if isinstance(told, str) else list(map(_without_text, told))
        told = self._looked(frame, now)
        self._ahead.drop()  # it is of this frame alone, taken or not
        return told

    def _looked(self, frame: bytes, now: float) -> Told:
        if self._whose.stage is Stage.OVER:
            return ()
        if now >= self._look_by:
            return self._none()
        heard = wire.read(frame, self.tally)
        return () if heard is None else self._looked_into(self._look_for, heard, now)

    # Until all questions are known to be open.

    def _look_for(self, heard: wire.Read, now: float) -> Sequence[Event]:
        whose = self._whose
        match heard:
            case wire.Init():
                return self._greeted(heard, now)
            case _ if whose.stage is Stage.GREETING:
                return ()
            case wire.UserJoined(user_id):
                return self._user_joined(user_id)
            case wire.Question() if heard.named in {None, whose.channel}:
                # R repeats it to whoever comes; it runs one turn, which is our channel's.
                return self._open(heard, asking.question(heard), now)
            case wire.InteractivePrompt() if asking.channel(heard) == whose.channel:
                return self._open(heard, asking.prompt(heard), now)
            case wire.Status(data) if data.status in DEAD:
                return self._refuse(Refusal.CLOSED)
            case _:
                return self._verdict(heard) or ()

    def _greeted(self, init: wire.Init, now: float) -> Sequence[Event]:
        whose = self._whose
        if whose.stage is not Stage.GREETING:
            return ()
        said = hello(init)
        whose.greeted(said)
        whose.looks()
        self._look_by = now + ASKED_S
        if not said.defers:
            session = hydration.session(init, said, self._ahead)
            self._turn = session.turn
            # Who asked may follow it in another process, where nobody hears of that.
            nobody = {self._look.user_id} if self._seat.apart else {None, self._look.user_id}
            self._is_mine = session.asker in nobody
            if session.turn is None or session.turn.channel != whose.channel:
                return self._refuse(Refusal.CLOSED)
            if not self._look.terms.admit(self._look.user_id, session.asker):
                return self._refuse(Refusal.CLOSED)
        return self._refuse(Refusal.CLOSED) if said.is_dead else ()

    def _open(self, asked: answers.Asked, question: events.Question, now: float) -> Sequence[Event]:
        self._course.asked(question, now)
        given = self._given.get(question.question_id)
        if given is None:
            self._held.add(question)
            return ()
        if len(question.payload) > KEPT_BYTES_MAX:
            question = msgspec.structs.replace(question, payload=Raw(b"{}"))
        self._known[question.question_id] = question
        given.opened(asked)
        if isinstance(given.result, Refusal):
            return self._refuse(given.result)
        frames = [each.frame for each in self._given.values()]
        return self._reply([frame for frame in frames if frame], now) if all(frames) else ()

    def _reply(self, frames: Sequence[bytes], now: float) -> Sequence[Event]:
        began: Sequence[Event] = ()
        if self._turn is None:
            self._step = _Step.ANSWERED
            self._find(Stage.WORKING)
            self._nameless = True
        else:
            self._follow(self._turn.id)
            told, trusted = self._woven(self._turn, now, whole=False)
            if not trusted:  # how much of it the client has cannot be told
                return self._refuse(Refusal.UNSUPPORTED)
            began = self._begin(self._turn.id, told, last_calls(self._turn))
            self._turn = None  # the stream may last for hours
        self._look_by = now + self._look.init_s
        return [*began, *map(events.Send, frames), *ALIVE]

    # From there on.

    def _commit(self) -> None:
        self._found = True

    def _follow(self, turn_id: str) -> Sequence[Event]:
        super()._follow(turn_id)
        return ()  # it is told with what the client has of it

    def _events(self, heard: wire.Read, now: float) -> Sequence[Event]:
        told = super()._events(heard, now)
        refused = self._verdict(heard)
        return self._continued(told) if refused is None else refused

    def _verdict(self, heard: wire.Read) -> Sequence[Event] | None:
        """What became of the answers, until all of them are taken or one is not."""
        if self.committed:
            return None
        for given in self._given.values():
            given.heard(heard)
            if isinstance(given.result, Refusal):
                return self._refuse(given.result)
        if self.committed:
            self._look_by = NEVER
        return None

    def _told_again(self, snapshot: wire.Snapshot, now: float) -> Sequence[Event]:
        told = super()._told_again(snapshot, now)
        if self._step is _Step.ANSWERED:
            told = self._begin(snapshot.id, told, last_calls(snapshot))
        # Whether its text adds up or not: what is told of it from here on, nobody heard before.
        return [*told, events.CaughtUp()]

    def _continued(self, told: Sequence[Event]) -> Sequence[Event]:
        return [news for event in told for news in self._each(event)]

    def _each(self, event: Event) -> Sequence[Event]:
        waits = self._step is _Step.ANSWERED
        match event:
            case events.Question() | events.QuestionClosed() if waits:
                self._held.add(event)
                return ALIVE
            case events.TurnStarted(turn_id):  # it begins anew: nothing of that is known
                return [*(self._begin(turn_id) if waits else [event]), events.CaughtUp()]
            case events.TurnFinished() if waits:
                return [*self._begin(""), event]
            case _:
                return [event]

    def _begin(
        self, turn_id: str, told: Sequence[Event] = (), last: frozenset[str] = frozenset()
    ) -> list[Event]:
        """Tell what was said so far: as known, or as far as the client lacks it."""
        self._step = _Step.FOLLOWING
        known, tools, rest = list[Event](), list[Event](), list[Event]()
        for event in told:
            if not isinstance(event, events.ToolUpdate):
                rest.append(event)
            elif event.call_id in last or event.phase not in _OUTCOMES:
                tools.append(event)
            else:
                known.append(event)
        started = events.TurnContinued(turn_id)
        asked: list[Event] = []
        for question_id, question in self._known.items():
            asked += [question, events.Replied(question_id)]
        held = self._held.take()
        # Tools come first, so that no text that is missing parts one from its card.
        return [started, *known, *asked, events.PerhapsKnown(), *tools, *held, *rest]

    def _none(self) -> Sequence[Event]:
        """The agent said nothing of the session, of the questions, or of the answers."""
        looked = self._whose.stage is Stage.LOOKING
        return self._refuse(Refusal.CLOSED if looked else Refusal.SILENT)

    def _refuse(self, why: Refusal) -> Sequence[Event]:
        self._whose.stage = Stage.OVER
        self._look_by = NEVER
        return [events.Refused(why)]


def _without_text(event: Event) -> Event:
    """What an end repeats of the text was told, or stands in its snapshot: it is compared there."""
    is_end = isinstance(event, events.TurnFinished)
    return msgspec.structs.replace(event, final_text=None) if is_end else event
