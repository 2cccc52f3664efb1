"""The turn that runs, or waits for a person."""

from collections.abc import Sequence

from turnwire_agent.session.deltas import Delta
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Compacted,
    Event,
    Part,
    Prompted,
    QuestionAsked,
    QuestionClosed,
    Reason,
    StepBegun,
    TurnBegun,
    TurnParked,
)
from turnwire_agent.session.history import Exchange
from turnwire_agent.session.parts import Parts, closed


class RunningTurn:
    """A turn that has begun, and has not ended."""

    __slots__ = ("_questions", "events", "exchange", "parked", "parts", "turn_id")

    def __init__(self, exchange: Exchange, begun: TurnBegun) -> None:
        self.turn_id = begun.turn_id
        self.exchange = exchange
        self.events: list[Event] = [begun]
        """The events of the turn so far without what was streamed, oldest first."""
        self.parts = Parts()
        """Their number is `StepBegun.since` of a step that begins now."""
        self.parked = False
        """Whether nothing runs before somebody answers."""
        self._questions: dict[str, QuestionAsked] = {}

    @property
    def prompt(self) -> Prompted:
        """What the turn answers."""
        return self.exchange.prompt

    @property
    def open_questions(self) -> Sequence[QuestionAsked]:
        """The questions that wait, in the order in which they were asked."""
        return tuple(self._questions.values())

    def open_question(self, question_id: str, turn_id: str | None = None) -> QuestionAsked | None:
        """A question that waits, by its id; None if there is none, or another turn is meant."""
        return None if turn_id and turn_id != self.turn_id else self._questions.get(question_id)

    def goes_by(self, turn_id: str | None, prompt_id: str | None) -> bool:
        """Whether an abort means this turn. It names the turn or its prompt."""
        return turn_id == self.turn_id or prompt_id in self.exchange.prompt_ids

    def parts_now(self) -> tuple[Part, ...]:
        """The parts that stand, as they are."""
        return self.parts.now()

    def parts_at_end(self, reason: Reason) -> tuple[Part, ...]:
        """`TurnEnded.parts` of a turn that ends now."""
        return closed(self.parts.now(), reason)

    def stream(self, deltas: Sequence[Delta]) -> None:
        """Take what was streamed."""
        self.parked = False
        for delta in deltas:
            self.parts.add(delta)

    def apply(self, event: Event) -> None:
        """Take the next event of this turn, but those that stream, begin or end it."""
        self.events.append(event)
        self.parked = isinstance(event, TurnParked)
        match event:
            case StepBegun():
                self.parts.begin_step()
            case AttemptLost(since=since):
                self.parts.take_back(since)
            case CallBegun():
                self.parts.begin_call(event)
            case CallEnded():
                self.parts.end_call(event)
            case QuestionAsked(question_id=question_id):
                self._questions[question_id] = event
                self.parts.ask(event)
            case QuestionClosed(question_id=question_id):
                self._questions.pop(question_id, None)
                self.parts.close_question(event)
            case Compacted(transcript=transcript):
                self.exchange.compacted = transcript
            case _:
                pass  # StepEnded, TurnTakenOver and TurnParked change nothing that is shown
