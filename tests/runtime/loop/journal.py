"""Events of one turn, in a line each, and the state that they lead to."""

from collections.abc import Iterable

from msgspec import UNSET, Raw

from runtime.loop.scenarios import MODEL, TOOLS
from runtime.loop.turn_machine import PROMPT
from turnwire_agent.llm.events import FinishReason, Usage
from turnwire_agent.llm.transcript import Assistant, Call, Outcome, Text, User
from turnwire_agent.loop.actions import Action, Running
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.decide import decide
from turnwire_agent.loop.turn_state import TurnState
from turnwire_agent.session.events import (
    AttemptLost,
    CallBegun,
    CallEnded,
    Event,
    QuestionAsked,
    QuestionClosed,
    StepBegun,
    StepEnded,
    TurnBegun,
    TurnTakenOver,
)

NOW = 1_000.0
AGENT = Agent(model=MODEL, tools=TOOLS)
IDLE = Running()
TAKEN_OVER = TurnTakenOver(turn_id="t", at=NOW)
SHORTER = (User((Text("In short"),)),)


def state(*events: Event) -> TurnState:
    """The state of a turn that began at `NOW`, and what happened in it since."""
    folded = TurnState(session_id="s", turn_id="t", before=PROMPT)
    folded.apply(TurnBegun(turn_id="t", entry_id="e", at=NOW))
    for event in events:
        folded.apply(event)
    return folded


def following(
    *events: Event, agent: Agent = AGENT, running: Running = IDLE, now: float = NOW
) -> tuple[Action, ...]:
    """What is next after these events."""
    return decide(state(*events), agent, running, now)


def step(number: int = 0, attempt: int = 0, since: int = 0) -> StepBegun:
    return StepBegun(turn_id="t", step=number, attempt=attempt, since=since, at=NOW)


def answer(
    *calls: tuple[str, str],
    number: int = 0,
    finish: FinishReason | str = "tool-calls",
    raw: str = "",
    usage: Usage = Usage(),  # noqa: B008 (frozen)
) -> StepEnded:
    """An answer with calls: a tool's name, then its arguments. Their ids are c0, c1, …"""
    parts = tuple(Call(f"c{at}", name, text) for at, (name, text) in enumerate(calls))
    words = (Text("Well"),)
    return StepEnded(
        turn_id="t",
        step=number,
        message=Assistant((*words, *parts)),
        call_ids=tuple(f"c{at}" if number == 0 else f"c{at}-{number}" for at in range(len(calls))),
        finish_reason=finish,
        raw=raw,
        usage=usage,
    )


def lost(
    why: str,
    attempt: int = 0,
    *,
    number: int = 0,
    final: bool = False,
    retry_after_s: float | None = None,
    usage: Usage | None = None,
) -> AttemptLost:
    return AttemptLost(
        turn_id="t",
        step=number,
        attempt=attempt,
        since=0,
        why=why,
        final=final,
        retry_after_s=retry_after_s,
        usage=usage,
    )


def began(call_id: str, tool: str, arguments: str = '{"n":1}', run: int = 0) -> CallBegun:
    registered = TOOLS.get(tool)
    return CallBegun(
        turn_id="t",
        call_id=call_id,
        tool=tool,
        key=f"s/t/{call_id}",
        effect=registered.effect.value if registered else "once",
        input=Raw(arguments.encode()),
        run=run,
        at=NOW,
    )


def done(call_id: str, tool: str = "find", outcome: Outcome = "done") -> CallEnded:
    return CallEnded(
        turn_id="t", call_id=call_id, tool=tool, outcome=outcome, content=(Text("ok"),)
    )


def question(
    call_id: str, tool: str = "mail.send", arguments: str = '{"n":1}', digest: str | None = None
) -> QuestionAsked:
    registered = TOOLS.get(tool)
    assert registered
    return QuestionAsked(
        turn_id="t",
        question_id=f"t-{call_id}",
        text="?",
        expires_at=NOW + 100,
        call_id=call_id,
        tool=tool,
        input=Raw(arguments.encode()),
        tool_digest=digest or registered.digest,
        at=NOW,
    )


def closed(call_id: str, reply: bytes | None = b"true", at: float = NOW) -> QuestionClosed:
    return QuestionClosed(
        turn_id="t",
        question_id=f"t-{call_id}",
        answer=UNSET if reply is None else Raw(reply),
        at=at,
    )


def outcomes(events: Iterable[Event]) -> list[tuple[str, str, str | None]]:
    """Call, outcome and words for people, of each outcome among these events."""
    return [
        (event.call_id, event.outcome, event.error)
        for event in events
        if isinstance(event, CallEnded)
    ]
