"""Where a turn is: the fold of its events.

A process that takes a turn over folds the same events and knows the same. What was streamed changes
nothing here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import UNSET

from turnwire_agent.llm.transcript import Call, Transcript
from turnwire_agent.loop.calls.checked_input import CheckedInput
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Compacted,
    Event,
    QuestionAsked,
    QuestionClosed,
    StepBegun,
    StepEnded,
    TurnBegun,
    TurnEnded,
    TurnTakenOver,
)
from turnwire_agent.session.turn_messages import messages_of

DIED: Final = "died"
"""Why an attempt is lost whose process is gone."""
OVERFLOW: Final = "context-overflow"
"""Why one is lost whose transcript was too long."""


@dataclass(slots=True)
class CallState:
    """One call of an answer, and how far it is."""

    call_id: str
    """In the turn. `call.id` is that of the model."""
    call: Call
    step: int
    position: int
    """Among the calls of its answer."""
    begun: CallBegun | None = None
    """Of its last run."""
    ended: CallEnded | None = None
    asked: QuestionAsked | None = None
    """The last question about it."""
    closed: QuestionClosed | None = None
    """Of `asked`."""
    questions: int = 0
    checked: CheckedInput | None = None
    """What the tool makes of the arguments: a memo of this process, and no part of the fold. So a
    predicate for approvals is evaluated once."""

    @property
    def is_asking(self) -> bool:
        """Whether a question about it is open."""
        return self.asked is not None and self.closed is None


@dataclass(slots=True, kw_only=True)
class TurnState:
    """One turn. `apply` takes its events, in their order."""

    session_id: str
    turn_id: str
    before: Transcript
    """All that was before the turn, and its prompt as the last message."""
    begun_at: float = 0.0
    is_over: bool = False
    steps: list[StepEnded] = field(default_factory=list)
    """The answers, oldest first."""
    attempt: StepBegun | None = None
    """The attempt that has neither an answer nor a loss."""
    next_attempt: int = 0
    """The number of the next attempt of the next step."""
    lost: AttemptLost | None = None
    """How the last attempt of the next step ended. None: there was none yet, or the transcript
    became shorter since."""
    faults: int = 0
    """Attempts of the next step that ended in another fault than an overflow."""
    has_compacted: bool = False
    """Whether the transcript was made shorter for the next step."""
    losses: list[AttemptLost] = field(default_factory=list)
    calls: dict[str, CallState] = field(default_factory=dict)
    """By the id in the turn, in the order of the answers."""
    refused_steps: set[int] = field(default_factory=set)
    """Steps with calls that could not be run as the model wrote them."""
    questions: dict[str, QuestionAsked] = field(default_factory=dict)
    """Those that are open."""
    answers: dict[str, QuestionClosed] = field(default_factory=dict)
    """What became of those that tools have asked and that are closed."""
    takeovers: int = 0
    """Since the turn last got on: with an answer of a model, a result, or an answer of a person."""
    reruns: int = 0
    """Attempts and calls that were made again."""
    waited_s: float = 0.0
    """How long questions were open, those that are open now apart."""
    _asked_at: float = 0.0
    """Since when a question is open."""
    _added: list[Event] = field(default_factory=list)
    """The answers and outcomes that `before` does not have."""

    def apply(self, event: Event) -> None:
        """Take the next event of the turn. The second of two that cannot both be is ignored."""
        match event:
            case TurnBegun():
                self.begun_at = event.at
            case TurnTakenOver():
                self.takeovers += 1
            case StepBegun():
                self.attempt = event
                self.next_attempt = event.attempt + 1
            case StepEnded():
                self._step_ended(event)
            case AttemptLost():
                self._attempt_lost(event)
            case Compacted():
                self._compacted(event)
            case CallBegun():
                self.reruns += event.run > 0
                if call := self.calls.get(event.call_id):
                    call.begun = event
            case CallEnded():
                self._call_ended(event)
            case QuestionAsked():
                self._asked(event)
            case QuestionClosed():
                self._closed(event)
            case TurnEnded():
                self.is_over = True
            case _:
                pass  # what was streamed, and what is about prompts

    @property
    def step(self) -> int:
        """The number of the next answer."""
        return len(self.steps)

    @property
    def open_calls(self) -> Sequence[CallState]:
        """The calls without an outcome, in the order of the model."""
        return [call for call in self.calls.values() if call.ended is None]

    @property
    def transcript(self) -> Transcript:
        """What a model is sent, with the ids of the model. A call without an outcome has none."""
        return (*self.before, *messages_of(self._added))

    def _step_ended(self, event: StepEnded) -> None:
        self.steps.append(event)
        self._added.append(event)
        calls = zip(event.call_ids, event.message.calls, strict=True)
        for position, (call_id, call) in enumerate(calls):
            self.calls[call_id] = CallState(call_id, call, event.step, position)
        self.attempt = None
        self.next_attempt = 0
        self.lost = None
        self.faults = 0
        self.has_compacted = False
        self.takeovers = 0

    def _attempt_lost(self, event: AttemptLost) -> None:
        self.losses.append(event)
        self.attempt = None
        self.lost = event
        self.faults += event.why not in {DIED, OVERFLOW}
        self.reruns += 1

    def _compacted(self, event: Compacted) -> None:
        self.before = event.transcript
        self._added.clear()
        self.has_compacted = True
        self.lost = None
        self.takeovers = 0

    def _call_ended(self, event: CallEnded) -> None:
        call = self.calls.get(event.call_id)
        if call is None or call.ended:
            return
        call.ended = event
        self._added.append(event)
        if call.begun is None and event.outcome == "failed":
            self.refused_steps.add(call.step)
        if event.outcome not in {"unknown", "canceled"}:
            self.takeovers = 0

    def _asked(self, event: QuestionAsked) -> None:
        if not self.questions:
            self._asked_at = event.at
        self.questions[event.question_id] = event
        if call := self.calls.get(event.call_id or ""):
            call.asked = event
            call.closed = None
            call.questions += 1

    def _closed(self, event: QuestionClosed) -> None:
        asked = self.questions.pop(event.question_id, None)
        if asked is None:
            return
        if asked.asked_by is not None:
            self.answers[event.question_id] = event
        call = self.calls.get(asked.call_id or "")
        if call and call.asked is asked:
            call.closed = event
        if not self.questions:
            self.waited_s += max(0.0, event.at - self._asked_at)
        if event.answer is not UNSET:
            self.takeovers = 0
