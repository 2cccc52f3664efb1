"""Stop, answer, recall on the `v2` wire: each reads the hydration first, and then asks."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from turnwire.core import harmless
from turnwire.core.dialect import NEVER, Tally
from turnwire.core.errand import Answer, Answered, Errant, Recall, Receipt, Stop, Transcript
from turnwire.core.events import Reason
from turnwire.core.refusal import Refusal
from turnwire.dialects.v2 import frames, hydration, looking, outgoing
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
            if self._greeted:
                return ()
            try:
                told = self._init(heard, list(self._ahead.take(heard.session)))
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
            self._turn_id = turn.id
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
            case frames.Complete(turn_id=turn_id) if turn_id and turn_id == self._turn_id:
                self.result = _receipt(turn_id, Reason.END_TURN)
            case frames.AgentError(turn_id=turn_id) if turn_id and turn_id == self._turn_id:
                self.result = _receipt(turn_id, Reason.ERROR)
            case _:
                pass

    def _late(self) -> None:
        self.result = Receipt(stopped=False, turn_id=self._turn_id, reason=self.UNSAID)


class Answering(_Errand):
    """Answers a question that is open. The agent takes the first answer and no second one."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer)
        self.result: Answered | Refusal | None = None
        self._question_id = answer.question_id
        self._answer = answer.answer

    def left(self) -> None:
        self.result = self.result or Refusal.SILENT

    def _init(self, _init: frames.Init, entries: list[hydration.Entry]) -> Sequence[bytes]:
        asked = [
            (entry, part)
            for entry in entries
            for part in hydration.parts(entry)
            if part.question == self._question_id
        ]
        if not asked:
            self.result = Refusal.UNKNOWN
            return ()
        entry, part = asked[-1]
        if not part.is_open_question or not entry.is_open:
            self.result = Refusal.CLOSED
            return ()
        return self._unseen()

    def _unseen(self) -> Sequence[bytes]:
        return [outgoing.answer(self._question_id, self._answer)]

    def _verdict(self, heard: frames.Read) -> None:
        match heard:
            case frames.QuestionResolved(question_id=asked) if asked == self._question_id:
                given = harmless.value(self._answer)
                ours = not heard.answer or _same(bytes(heard.answer), bytes(given))
                ours = ours and self._greeted  # else it is told before we answered
                self.result = Answered() if ours else Refusal.CLOSED
            case frames.QuestionExpired(question_id=asked) if asked == self._question_id:
                self.result = Refusal.CLOSED
            case _:
                pass

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


def _running(init: frames.Init, entries: list[hydration.Entry]) -> list[hydration.Entry]:
    """The turns that run now: the one that is named, else those that are not over."""
    named = init.data.running_turn_id
    if named is None and not init.data.runner_busy:
        return []
    found = [entry for entry in entries if named in {None, entry.id} and entry.is_open]
    return found or ([] if named is None else [hydration.Entry(named, "assistant")])


def _over(entries: list[hydration.Entry], named: str | None) -> Receipt:
    """There is nothing to stop: how the named turn ended, if it is known."""
    for entry in reversed(entries):
        if named is not None and entry.id == named:
            for part in hydration.parts(entry):
                if part.type == "finish":
                    return _receipt(named, hydration.reason(part.reason))
    return Receipt(stopped=False, turn_id=named, reason=Stopping.IDLE)


def _receipt(turn_id: str, ended: Reason) -> Receipt:
    return Receipt(stopped=ended is Reason.CANCELED, turn_id=turn_id, reason=ended.value)


def _same(one: bytes, other: bytes) -> bool:
    """Whether two texts in JSON say the same."""
    try:
        return bool(msgspec.json.decode(one) == msgspec.json.decode(other))
    except (msgspec.DecodeError, RecursionError):
        return one == other
