"""Random sessions, as events that could stand in the journal of a host. A seed makes one."""

import json
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from msgspec import UNSET, Raw, UnsetType

from turnwire_agent.llm.events import Usage
from turnwire_agent.llm.transcript import Assistant, Call, Outcome, Reasoning, Text, User
from turnwire_agent.session.deltas import (
    DataSet,
    Delta,
    FileAdded,
    InputAdded,
    PreliminaryResult,
    ReasoningAdded,
    SourceAdded,
    StatusChanged,
    TextAdded,
)
from turnwire_agent.session.events import (
    Attachment,
    AttemptLost,
    CallBegun,
    CallEnded,
    Channel,
    Compacted,
    Event,
    Prompted,
    PromptRepeated,
    PromptTakenBack,
    QuestionAsked,
    QuestionClosed,
    Reason,
    StepBegun,
    StepEnded,
    Streamed,
    TurnBegun,
    TurnEnded,
    TurnParked,
    TurnTakenOver,
)
from turnwire_agent.session.state import SessionState
from turnwire_agent.session.turn_messages import messages_of

PIECES: Final = ("a", " b", "\n\n", "é", "\u2028", "\0", "\U0001f600", "")
"""What breaks line formats."""
VALUES: Final[tuple[Any, ...]] = ({}, {"a": [1, None]}, None, "x", {"__proto__": 1}, [None])
INPUTS: Final[tuple[Any, ...]] = ({}, {"path": "a"}, {"path": "b", "token": None})
TOOLS: Final = ("read", "write")
CHANNELS: Final = (Channel(), Channel(), Channel("slack", "c1"))
PNG: Final = "data:image/png;base64,QQ=="
OUTCOMES: Final[tuple[Outcome, ...]] = ("done", "done", "failed", "denied", "canceled", "unknown")
REASONS: Final[tuple[Reason, ...]] = ("end_turn", "end_turn", "error", "canceled")
LOST: Final = ("truncated", "died", "overloaded")


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


class Story:
    """Writes the events of one session.

    An orderly one says nothing while a tool runs or a question is open, and nothing after a call in
    the same answer: of what comes then, `init` cannot tell the place.
    """

    def __init__(
        self, seed: int, *, orderly: bool = True, is_lossless: bool = False, prompts: int = 3
    ) -> None:
        self._dice = Random(seed)  # noqa: S311 (a seed, so that a failure can be seen again)
        self._orderly = orderly
        self._is_lossless = is_lossless
        self._prompts = prompts
        self._number = 0
        self._state = SessionState()
        self._turn_id = ""

    def events(self) -> Iterator[Event]:
        """All events, oldest first."""
        for event in self._session():
            self._state.apply(event)
            yield event

    def _chance(self, share: float) -> bool:
        return self._dice.random() < share

    def _name(self, kind: str) -> str:
        self._number += 1
        return f"{kind}{self._number}"

    def _session(self) -> Iterator[Event]:
        for _ in range(self._prompts):
            for _ in range(self._dice.choice((1, 1, 2))):
                yield self._prompted()
            if self._chance(0.1):
                yield PromptTakenBack(self._state.queue[-1].entry_id)
            if self._state.queue and self._chance(0.1):
                yield PromptRepeated(self._state.queue[0].entry_id, self._name("again"))
            while self._state.queue:
                yield from self._turn()

    def _prompted(self) -> Prompted:
        earlier = [each.prompt.client_message_id for each in self._state.history]
        replaced = self._dice.choice((*earlier, None)) if self._chance(0.3) else None
        kind = self._dice.choice(("regenerate", "edit")) if replaced else ""
        files = (Attachment("image/png", PNG, "a.png"),) if self._chance(0.3) else ()
        return Prompted(
            entry_id=self._name("entry"),
            prompt_id=self._name("p") if self._chance(0.9) else None,
            client_message_id=replaced or self._name("m"),
            user_id=self._dice.choice(("ann", None)),
            channel=self._dice.choice(CHANNELS),
            content=self._text() or "hi",
            attachments=files,
            regenerate=kind == "regenerate",
            edit=kind == "edit",
        )

    def _text(self) -> str:
        return "".join(self._dice.choices(PIECES, k=self._dice.randrange(1, 4)))

    def _turn(self) -> Iterator[Event]:
        self._turn_id = self._name("turn")
        yield TurnBegun(turn_id=self._turn_id, entry_id=self._state.queue[0].entry_id)
        for event in self._steps() if self._chance(0.7) else self._tale():
            yield event
            if self._chance(0.03):
                yield TurnTakenOver(turn_id=self._turn_id)
            if self._chance(0.03):
                break  # somebody stopped it
        yield self._end()

    def _end(self) -> TurnEnded:
        running = self._state.running
        assert running is not None
        reason = self._dice.choice(REASONS)
        parts = running.parts_at_end(reason)
        return TurnEnded(
            turn_id=self._turn_id,
            reason=reason,
            finish_reason=self._dice.choice(("stop", "length", "max-steps")),
            error="It broke" if reason == "error" else None,
            usage=Usage(input=3, output=self._dice.choice((None, 4))),
            parts=parts,
            messages=messages_of(running.events, parts),
        )

    # --- a driver that says what its model is asked ------------------------------------------

    def _steps(self) -> Iterator[Event]:
        for step in range(self._dice.randrange(1, 4)):
            attempt = 0
            while not self._is_lossless and self._chance(0.25) and attempt < 3:
                yield from self._attempt(step, attempt, self._calls())
                yield self._lost(step, attempt)
                attempt += 1
            if step and self._chance(0.1):
                summary = (User((Text("What was before."),)),)
                yield Compacted(turn_id=self._turn_id, transcript=summary)
            calls = self._calls()
            yield from self._attempt(step, attempt, calls)
            yield self._answer(step, calls)
            yield from self._run_all(calls)

    def _attempt(
        self, step: int, attempt: int, calls: list[tuple[str, str, Any]]
    ) -> Iterator[Event]:
        running = self._state.running
        assert running is not None
        since = len(running.parts)
        yield StepBegun(turn_id=self._turn_id, step=step, attempt=attempt, since=since)
        deltas: list[Delta] = [
            self._dice.choice((TextAdded, ReasoningAdded))(self._text())
            for _ in range(self._dice.randrange(4))
        ]
        if self._chance(0.2):
            deltas.append(self._shown())
        for call_id, tool, call_input in calls:
            written = json.dumps(call_input)
            deltas.append(InputAdded(call_id, tool, ""))
            cut = self._dice.randrange(len(written))
            deltas += [InputAdded(call_id, tool, piece) for piece in (written[:cut], written[cut:])]
            if not self._orderly and self._chance(0.3):
                deltas.append(TextAdded("after the call"))
        yield from self._streamed(deltas)

    def _lost(self, step: int, attempt: int) -> AttemptLost:
        running = self._state.running
        assert running is not None
        begun = next(each for each in reversed(running.events) if isinstance(each, StepBegun))
        return AttemptLost(
            turn_id=self._turn_id,
            step=step,
            attempt=attempt,
            since=begun.since,
            why=self._dice.choice(LOST),
        )

    def _calls(self) -> list[tuple[str, str, Any]]:
        return [self._call() for _ in range(self._dice.choice((0, 0, 1, 1, 2)))]

    def _call(self) -> tuple[str, str, Any]:
        return self._name("c"), self._dice.choice(TOOLS), self._dice.choice(INPUTS)

    def _answer(self, step: int, calls: list[tuple[str, str, Any]]) -> StepEnded:
        text = [Text("An answer")] if self._chance(0.7) else []
        made = [
            Call(f"model-{number}", tool, json.dumps(call_input))
            for number, (_, tool, call_input) in enumerate(calls)
        ]
        return StepEnded(
            turn_id=self._turn_id,
            step=step,
            message=Assistant((Reasoning("why"), *text, *made)),
            call_ids=tuple(call_id for call_id, *_ in calls),
            finish_reason="tool-calls" if calls else "stop",
        )

    def _run_all(self, calls: list[tuple[str, str, Any]]) -> Iterator[Event]:
        runs = [self._run(*call) for call in calls]
        while runs:
            run = self._dice.choice(runs)
            event = next(run, None)
            if event is None:
                runs.remove(run)
            else:
                yield event

    def _run(self, call_id: str, tool: str, call_input: Any) -> Iterator[Event]:
        turn_id = self._turn_id
        if self._chance(0.2):
            yield self._ended(call_id, tool, self._dice.choice((UNSET, raw(call_input))))
            return
        if self._chance(0.3):
            asked = QuestionAsked(
                turn_id=turn_id,
                question_id=self._name("q"),
                text=f"May {tool} run?",
                options=("approve", "deny"),
                expires_at=1_700_000_000.5,
                call_id=call_id,
                tool=tool,
                input=raw(call_input),
            )
            yield asked
            yield TurnParked(turn_id)
            yield self._closed(asked)
            if self._chance(0.4):
                yield self._ended(call_id, tool, UNSET)
                return
        for run in range(self._dice.choice((1, 1, 1, 2))):
            yield CallBegun(
                turn_id=turn_id,
                call_id=call_id,
                tool=tool,
                key=f"s1/{turn_id}/{call_id}",
                effect="safe",
                input=raw(call_input),
                run=run,
            )
        for _ in range(self._dice.randrange(3)):
            yield Streamed(turn_id, (PreliminaryResult(call_id, tool, self._value()),))
        if not self._orderly and self._chance(0.5):
            yield from self._streamed([self._shown(), TextAdded("meanwhile")])
        yield self._ended(call_id, tool, UNSET)

    def _ended(self, call_id: str, tool: str, call_input: Raw | UnsetType) -> CallEnded:
        outcome = self._dice.choice(OUTCOMES)
        has_value = outcome == "done" and self._chance(0.6)
        return CallEnded(
            turn_id=self._turn_id,
            call_id=call_id,
            tool=tool,
            outcome=outcome,
            content=(Text("for the model"),),
            value=self._value() if has_value else UNSET,
            error="No paper" if outcome == "failed" else None,
            input=call_input,
        )

    def _closed(self, asked: QuestionAsked) -> QuestionClosed:
        answer = raw(self._dice.choice((True, False, None, "yes"))) if self._chance(0.8) else UNSET
        return QuestionClosed(
            turn_id=self._turn_id, question_id=asked.question_id, answer=answer, user_id="ann"
        )

    # --- any other driver --------------------------------------------------------------------

    def _tale(self) -> Iterator[Event]:
        for _ in range(self._dice.randrange(6)):
            match self._dice.randrange(4):
                case 0:
                    call_id, tool, call_input = self._call()
                    yield from self._run(call_id, tool, call_input)
                case 1:
                    asked = QuestionAsked(
                        turn_id=self._turn_id, question_id=self._name("q"), text="Which one?"
                    )
                    yield asked
                    yield self._closed(asked)
                case _:
                    said: list[Delta] = [
                        TextAdded(self._text()),
                        ReasoningAdded(self._text()),
                        self._shown(),
                    ]
                    yield from self._streamed(self._dice.sample(said, k=2))

    def _streamed(self, deltas: list[Delta]) -> Iterator[Streamed]:
        """The deltas as they may be committed: some together, some alone."""
        while deltas:
            size = self._dice.randrange(1, 4)
            batch, deltas = deltas[:size], deltas[size:]
            yield Streamed(self._turn_id, tuple(batch))

    def _value(self) -> Raw:
        return raw(self._dice.choice(VALUES))

    def _shown(self) -> Delta:
        match self._dice.randrange(6):
            case 0:
                return FileAdded("image/png", PNG, "made.png")
            case 1:
                return SourceAdded(self._name("s"), "https://a.example/", "A page")
            case 2:
                return DataSet("state", self._value())
            case 3:
                return DataSet("state", self._value(), self._dice.choice(("d1", "d2")))
            case 4:
                return DataSet("hint", self._value(), transient=True)
            case _:
                return StatusChanged(self._dice.choice(("thinking", "waits")), "for a quota")
