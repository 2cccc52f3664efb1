"""Stop, answer, recall on the `v2` wire: each reads the hydration first, and then asks."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from turnwire.core import harmless
from turnwire.core.dialect import NEVER, Tally
from turnwire.core.errand import Answer, Answered, Errant, Recall, Receipt, Stop, Transcript
from turnwire.core.events import Reason
from turnwire.core.questions import left_open
from turnwire.core.refusal import Refusal
from turnwire.dialects.v2 import frames, hydration, looking, outgoing
from turnwire.dialects.v2.asked import Place
from turnwire.dialects.v2.others import Channel
from turnwire.dialects.v2.transcript import transcript


class _Errand:
    """Waits for `init`, at most `init_s`, and then for the verdict, at most `verdict_s`."""

    def __init__(self, errant: Errant) -> None:
        self.tally = Tally()
        self.deadline = NEVER
        self.channel: Channel = (errant.channel_type, errant.channel_id)
        self._errant = errant
        self._greeted = False
        self._ahead = hydration.Ahead()

    def open(self, now: float) -> Sequence[bytes]:
        self.deadline = now + self._errant.init_s
        return ()

    def look_into(self, frame: bytes) -> Iterator[None]:
        return looking.look_into(frame, self._ahead)

    def hear(self, frame: bytes, now: float) -> Sequence[bytes]:
        heard = frames.read(frame, self.tally)
        if heard is None:
            return ()
        if isinstance(heard, frames.Init):
            entries = self._ahead.take(heard.session)
            if self._greeted:
                return ()
            try:
                told = self._init(heard, list(entries))
            except RecursionError:  # nested just so deeply that the first look at it went well
                self.tally.unread(frame)
                return ()
            return self._await(told, now)
        self._verdict(heard)
        return ()

    def tick(self, now: float) -> Sequence[bytes]:
        if now < self.deadline:
            return ()
        if self._greeted:
            self._late()
            return ()
        return self._await(self._unseen(), now)

    def _await(self, tell: Sequence[bytes], now: float) -> Sequence[bytes]:
        self._greeted = True
        self.deadline = now + self._errant.verdict_s
        return tell

    @abstractmethod
    def _init(self, init: frames.Init, entries: list[hydration.Entry]) -> Sequence[bytes]:
        """The agent said hello: a result, or frames to send."""

    @abstractmethod
    def _unseen(self) -> Sequence[bytes]:
        """This agent says no hello: a result, or frames to send."""

    def _verdict(self, heard: frames.Read) -> None:
        """A frame came that may be the verdict."""

    def _late(self) -> None:
        """There was no verdict in time."""


class Stopping(_Errand):
    """Aborts the running turn, and waits until it is over."""

    UNSAID: ClassVar = "no_verdict"
    IDLE: ClassVar = "idle"

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.result: Receipt | Refusal | None = None
        self._turn_id = stop.turn_id
        self._prompt_id: str | None = None

    def left(self) -> None:
        if self._greeted:
            self._late()
        else:
            self.result = Refusal.SILENT  # it was asked nothing

    def _init(self, init: frames.Init, entries: list[hydration.Entry]) -> Sequence[bytes]:
        running = _running(init, entries)
        named = self._turn_id
        ours = [
            e for e in running if (e.channel == self.channel if named is None else e.id == named)
        ]
        if ours:
            turn = ours[-1]
            self._turn_id, self._prompt_id = turn.id, turn.prompt_id
            return [outgoing.stop(turn.channel, turn.id, turn.prompt_id)]
        another = named is not None and running
        self.result = Refusal.OTHER_TURN if another else _over(entries, named)
        return ()

    def _unseen(self) -> Sequence[bytes]:
        if self._turn_id is None:
            self.result = Refusal.UNSUPPORTED
            return ()
        return [outgoing.stop(self.channel, self._turn_id, None)]

    def _verdict(self, heard: frames.Read) -> None:
        match heard:
            case frames.Finalize(turn_id=turn_id) if turn_id == self._turn_id:
                ended = hydration.reason(heard.reason)
                self.result = _receipt(turn_id, ended)
            case frames.Complete() if self._is_named(heard):
                self.result = _receipt(self._turn_id, Reason.END_TURN)
            case frames.AgentError() if self._is_named(heard):
                self.result = _receipt(self._turn_id, Reason.ERROR)
            case _:
                pass

    def _is_named(self, frame: frames.Unnamed) -> bool:
        """Whether this names the turn that was stopped: what names none may be about any."""
        if frame.turn_id:
            return frame.turn_id == self._turn_id
        return bool(frame.prompt_id) and frame.prompt_id == self._prompt_id

    def _late(self) -> None:
        self.result = Receipt(stopped=False, turn_id=self._turn_id, reason=self.UNSAID)


class Answering(_Errand):
    """Answers a question that is open. The agent takes the first answer and no second one."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.result: Answered | Refusal | None = None
        self._question_id = answer.question_id
        self._answer = answer.answer
        self._ahead = hydration.Ahead(_asks)
        self._turn = Place()
        """The turn that asks, as far as it is known."""
        self._others: Sequence[Place] = ()
        """Turns that wait for a question of the same id."""
        self._given = answer

    def left(self) -> None:
        self.result = self.result or Refusal.SILENT

    def _init(self, init: frames.Init, entries: list[hydration.Entry]) -> Sequence[bytes]:
        """Look for the question where its answer comes from, else wherever one such waits."""
        given = self._given
        asked = [entry for entry in entries if self._is_asked(entry)]
        users = hydration.askers(entries)
        ours = [e for e in asked if given.terms.admit(given.user_id, hydration.asked_by(e, users))]
        here = [entry for entry in ours if entry.channel == self.channel]
        waiting = [entry for entry in asked if self._waits(entry)]
        admitted = set(map(id, here or ours))
        found = [entry for entry in waiting if id(entry) in admitted]
        if not found:
            self.result = Refusal.CLOSED if ours else Refusal.UNKNOWN
            return ()
        running = init.data.running_turn_id
        turn = next((entry for entry in found if entry.id == running), found[-1])
        if not here and len(found) > 1 and turn.id != running:
            self.result = Refusal.UNKNOWN  # there are several, and none is of this channel
            return ()
        self.result = self._refusal(turn)
        if self.result is not None:
            return ()
        self._turn = _place(turn)
        self._others = [_place(entry) for entry in waiting if entry is not turn]
        return self._send(turn.id if self._others else None)

    def _refusal(self, turn: hydration.Entry) -> Refusal | None:
        """Why the question that this turn waits for takes no such answer; None: it does."""
        question = left_open(hydration.told(turn)).get(self._question_id)
        if question is None:  # it is too odd to be told, so nobody can know what it asks
            return Refusal.UNKNOWN
        # A stream that was resumed knows the turn by the id that its message has.
        turn_ids = {turn.id, hydration.message_id(turn.id, {turn.id})}
        given = self._given
        return given.terms.refusal(question, given.subject, turn_ids)

    def _unseen(self) -> Sequence[bytes]:
        if self._given.terms.signed:  # it may be an approval, and nobody can tell of what
            self.result = Refusal.UNSUPPORTED
            return ()
        return self._send()

    def _send(self, turn_id: str | None = None) -> Sequence[bytes]:
        return [outgoing.answer(self._question_id, self._answer, turn_id)]

    def _is_asked(self, entry: hydration.Entry) -> bool:
        return self._question_id in entry.questions

    def _waits(self, entry: hydration.Entry) -> bool:
        return entry.is_open and self._question_id in entry.open_questions

    def _verdict(self, heard: frames.Read) -> None:
        match heard:
            case frames.QuestionResolved() if self._is_ours(heard):
                given = harmless.value(self._answer)
                ours = not heard.answer or _same(bytes(heard.answer), bytes(given))
                ours = ours and self._greeted  # else it is told before we answered
                self.result = Answered() if ours else Refusal.CLOSED
            case frames.QuestionExpired() if self._is_ours(heard):
                self.result = Refusal.CLOSED
            case _:
                pass

    def _is_ours(self, closed: frames.QuestionResolved | frames.QuestionExpired) -> bool:
        """Whether this closes our question, and not as well another turn's of the same id."""
        said = frames.place(closed)
        is_exact = bool(said.turn_id or said.prompt_id)
        return (
            closed.question_id == self._question_id
            and said.may_be(self._turn)
            and (is_exact or not any(map(said.may_be, self._others)))
        )

    def _late(self) -> None:
        self.result = Answered()  # it is sent, and an agent need not confirm it


class Recalling(_Errand):
    """Reads the history off the hydration."""

    def __init__(self, recall: Recall) -> None:
        super().__init__(recall)
        self.result: Transcript | Refusal | None = None
        self._recall = recall

    def left(self) -> None:
        self.result = Refusal.SILENT

    def _init(self, _init: frames.Init, entries: list[hydration.Entry]) -> Sequence[bytes]:
        self.result = transcript(entries, self.channel, self._recall)
        return ()

    def _unseen(self) -> Sequence[bytes]:
        self.result = Refusal.UNSUPPORTED
        return ()


def _asks(entry: hydration.Entry) -> object:
    return entry.questions and entry.is_open


def _running(init: frames.Init, entries: list[hydration.Entry]) -> list[hydration.Entry]:
    """The turns that run now: the one that is named, else those that are not over."""
    named = init.data.running_turn_id
    if named is None and not init.data.runner_busy:
        return []
    found = [entry for entry in entries if named in {None, entry.id} and entry.is_open]
    return found or ([] if named is None else [hydration.Entry(named, "assistant")])


def _place(turn: hydration.Entry) -> Place:
    return Place(turn.id, turn.prompt_id, turn.channel)


def _over(entries: list[hydration.Entry], named: str | None) -> Receipt:
    """There is nothing to stop: how the named turn ended, if it is known."""
    for entry in reversed(entries):
        if named is not None and entry.id == named and not entry.is_open:
            for part in hydration.parts(entry):
                if part.type == "finish":
                    return _receipt(named, hydration.reason(part.reason))
    return Receipt(stopped=False, turn_id=named, reason=Stopping.IDLE)


def _receipt(turn_id: str | None, ended: Reason) -> Receipt:
    return Receipt(stopped=ended is Reason.CANCELED, turn_id=turn_id, reason=ended.value)


def _same(one: bytes, other: bytes) -> bool:
    """Whether two texts in JSON say the same."""
    try:
        return bool(msgspec.json.decode(one) == msgspec.json.decode(other))
    except (msgspec.DecodeError, RecursionError):
        return one == other
