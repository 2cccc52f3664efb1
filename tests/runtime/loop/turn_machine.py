"""A driver without tasks and without a clock: it does what `decide` says, and dies where it must.

The journal is a list. Each write of one event is a boundary, and so are the moments at which a tool
has had its effect and at which a model has answered, before either is written. At one boundary of
its choice the process dies: what it had in hand is gone, and another one folds the journal.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import Raw

from turnwire_agent.llm.events import Event as ModelEvent
from turnwire_agent.llm.events import Finish
from turnwire_agent.llm.transcript import Text, Transcript, User
from turnwire_agent.loop.actions import AskModel, Compact, End, Park, RunCall, Running, Write
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.decide import decide
from turnwire_agent.loop.prepare import repaired
from turnwire_agent.loop.streaming import Attempt
from turnwire_agent.loop.turn_state import TurnState
from turnwire_agent.session.deltas import Delta
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Compacted,
    Event,
    QuestionAsked,
    QuestionClosed,
    TurnBegun,
    TurnEnded,
    TurnTakenOver,
)

PROMPT: Transcript = (User((Text("Hi"),)),)
ROUNDS_MAX = 500
EventT = TypeVar("EventT")


class DiedError(Exception):
    """The process is gone."""


@dataclass(kw_only=True)
class Machine:
    """One turn from its beginning to its end."""

    agent: Agent
    model: Callable[[AskModel], Sequence[ModelEvent]]
    """The stream of an attempt."""
    answer: Callable[[QuestionAsked], Raw | None] = lambda _: Raw(b"true")
    choose: Callable[[int], int] = lambda _: 0
    """Which of so many things in hand ends next."""
    outcome: Callable[[RunCall], CallEnded] = lambda run: run.ended("done", (Text("ok"),))
    compact: Callable[[Transcript], Transcript | None] = lambda _: PROMPT
    deaths: frozenset[int] = frozenset()
    """Numbers of the boundaries at which the process dies."""
    now: float = 1_000.0
    tick_s: float = 0.0
    """How long each round takes."""
    journal: list[Event] = field(default_factory=list)
    shown: list[Delta] = field(default_factory=list)
    asked: list[AskModel] = field(default_factory=list)
    effects: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """How often each tool had its effect, by tool, call and key."""
    together: list[frozenset[str]] = field(default_factory=list)
    """Which calls ran at the same time, whenever one began."""
    parked: int = 0
    boundaries: int = 0
    end: End | None = None
    _attempt: AskModel | None = None
    _calls: dict[str, RunCall] = field(default_factory=dict)

    def run(self) -> "Machine":
        """Run the turn to its end, in as many processes as it takes."""
        self.journal.append(TurnBegun(turn_id="t", entry_id="e", at=self.now))
        self._fold()
        while self.end is None:
            try:
                for _ in range(ROUNDS_MAX):
                    if self.end is not None:
                        break
                    self._round()
                else:
                    raise AssertionError("the turn does not end")
            except DiedError:
                self._attempt, self._calls = None, {}
                self.journal.append(TurnTakenOver(turn_id="t", at=self.now))
                self._fold()
        return self

    @property
    def running(self) -> Running:
        """What the process has in hand."""
        return Running(attempt=self._attempt is not None, calls=frozenset(self._calls))

    def of(self, kind: type[EventT]) -> list[EventT]:
        """The events of one kind."""
        return [event for event in self.journal if isinstance(event, kind)]

    def _fold(self) -> None:
        self.state = TurnState(session_id="s", turn_id="t", before=PROMPT)
        for event in self.journal:
            self.state.apply(event)

    def _boundary(self) -> None:
        self.boundaries += 1
        if self.boundaries - 1 in self.deaths:
            raise DiedError

    def _write(self, *events: Event) -> None:
        for event in events:
            self.journal.append(event)
            self.state.apply(event)
            self._boundary()

    def _round(self) -> None:
        self.now += self.tick_s
        actions = decide(self.state, self.agent, self.running, self.now)
        assert len({type(action) for action in actions}) <= 1
        if not actions:
            self._something_ends()
        for action in actions:
            self._do(action)

    def _do(self, action: object) -> None:
        match action:
            case Write():
                assert action.events
                self._write(*action.events)
            case AskModel():
                assert not self._attempt
                assert not self._calls
                assert repaired(action.transcript) == action.transcript
                self._attempt = action
                self.asked.append(action)
                self._write(action.begun(since=len(self.shown), at=self.now))
            case RunCall():
                assert action.call_id not in self._calls
                self._calls[action.call_id] = action
                self.together.append(frozenset(self._calls))
                self._write(action.begun(self.now))
            case Compact():
                transcript = self.compact(action.transcript)
                self._boundary()
                if transcript is None:
                    self._end(action.otherwise)
                else:
                    self._write(Compacted(turn_id="t", transcript=transcript))
            case End():
                self._end(action)
            case Park():
                assert self.running == Running()
                assert self.state.questions
                self.parked += 1
                self._boundary()
                self._somebody_answers()
            case _:
                raise AssertionError(action)

    def _end(self, end: End) -> None:
        self._write(*end.events)
        self.journal.append(TurnEnded(turn_id="t", reason=end.reason))
        self.state.apply(self.journal[-1])
        assert decide(self.state, self.agent, self.running, self.now) == ()
        self.end = end

    def _something_ends(self) -> None:
        """One of the things in hand ends, or a person answers meanwhile."""
        things = len(self._calls) + (self._attempt is not None)
        assert things, "nothing is in hand, and nothing is next"
        chosen = self.choose(things + bool(self.state.questions))
        if chosen >= things:
            self._somebody_answers()
        elif self._attempt:
            self._model_answers(self._attempt)
        else:
            run = list(self._calls.values())[chosen]
            self.effects[run.tool.name, run.call_id, run.key] += 1
            self._boundary()
            self._write(self.outcome(run))
            del self._calls[run.call_id]

    def _model_answers(self, asked: AskModel) -> None:
        names = self.agent.tools.wire(asked.model.shape)
        attempt = Attempt(asked, self.agent, names, since=len(self.shown))
        events = self.model(asked)
        for event in events:
            assert not attempt.is_over
            self.shown += attempt.add(event)
        outcome = attempt.outcome()
        assert isinstance(outcome, AttemptLost) or isinstance(events[-1], Finish)
        self._boundary()
        self._write(outcome)
        self._attempt = None

    def _somebody_answers(self) -> None:
        questions = list(self.state.questions.values())
        asked = questions[self.choose(len(questions))]
        answer = self.answer(asked)
        if answer is None:
            assert asked.expires_at is not None
            self.now = max(self.now, asked.expires_at)
        else:
            closed = QuestionClosed(
                turn_id="t", question_id=asked.question_id, answer=answer, at=self.now
            )
            self._write(closed)


def begun(machine: Machine) -> Counter[str]:
    """How often each call began."""
    return Counter(event.call_id for event in machine.journal if isinstance(event, CallBegun))


def ended(machine: Machine) -> dict[str, list[CallEnded]]:
    """The outcomes of each call."""
    outcomes: dict[str, list[CallEnded]] = {}
    for event in machine.journal:
        if isinstance(event, CallEnded):
            outcomes.setdefault(event.call_id, []).append(event)
    return outcomes
