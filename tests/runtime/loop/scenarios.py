"""Random models, tools and people for `turn_machine`, the same in each run of one scenario."""

import random
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec import Raw, Struct

from runtime.loop.turn_machine import Machine
from turnwire_agent.llm.events import (
    Begun,
    Event,
    Finish,
    FinishReason,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    Usage,
)
from turnwire_agent.llm.faults import Fault, FaultKind
from turnwire_agent.llm.model import Model
from turnwire_agent.llm.transcript import Outcome, Text
from turnwire_agent.loop.actions import AskModel, RunCall
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.limits import Limits
from turnwire_agent.session.events import CallEnded, QuestionAsked
from turnwire_agent.tools.contract import Context, Effect, Tools
from turnwire_agent.tools.functions import tool

MODEL = Model(provider="p", name="m", shape="chat", base_url="https://models.example")


@tool(effect=Effect.SAFE)
def find(n: int) -> str:
    """Find."""
    return str(n)


@tool(effect=Effect.KEYED)
def charge(n: int, context: Context) -> str:
    """Charge."""
    return f"{context.key}: {n}"


@tool(name="mail.send", approval="always")
def mail(n: int) -> str:
    """Send."""
    return str(n)


@tool(sequential=True)
def move(n: int) -> str:
    """Move."""
    return str(n)


def _is_odd(arguments: object) -> bool:
    n = arguments.n  # type: ignore[attr-defined] # a struct that `tool` makes
    if n > 2:
        raise RuntimeError(n)
    return bool(n % 2)


@tool(effect=Effect.KEYED, approval=_is_odd)
def pay(n: int, context: Context) -> str:
    """Pay."""
    return f"{context.key}: {n}"


TOOLS = Tools([find, charge, mail, move, pay])
INVENTED = "invented"
GOOD = [f'{{"n":{n}}}' for n in range(4)]
BAD = ['{"n":"x"}', '{"n":1', "[]", '{"m":1}']
ANSWERS = [b"true", b'{"approved":true}', b'"approve"', b"false", b'{"approved":false}', b'"why?"']


class Plan(Struct, frozen=True):
    """One attempt of a model."""

    calls: tuple[tuple[str, str, str], ...]
    """Id of the model, registered name, arguments."""
    ending: FinishReason | FaultKind | None
    """None: the stream just stops."""
    began: bool = True
    """Whether there was an answer before a fault."""
    tokens: int | None = 10


class Scenario(Struct, frozen=True, kw_only=True):
    """All that is not up to `decide`."""

    plans: tuple[tuple[Plan, ...], ...]
    """By step, then by attempt; the last one of a step is repeated."""
    answers: tuple[bytes | None, ...]
    outcomes: tuple[Outcome, ...]
    seed: int
    limits: Limits
    window: int | None
    compacts: bool
    tick_s: float

    def machine(self, *, deaths: Sequence[int] = ()) -> Machine:
        """Return a new run of it, which dies at these boundaries."""
        chance = random.Random(self.seed)  # noqa: S311
        return Machine(
            agent=Agent(
                model=MODEL,
                tools=TOOLS,
                limits=self.limits,
                window=self.window,
                compacts=self.compacts,
            ),
            model=self._stream,
            answer=self._answer,
            outcome=self._outcome,
            choose=chance.randrange,
            deaths=frozenset(deaths),
            tick_s=self.tick_s,
        )

    def _stream(self, asked: AskModel) -> list[Event]:
        names = TOOLS.wire(MODEL.shape)
        attempts = self.plans[min(asked.step, len(self.plans) - 1)]
        plan = attempts[min(asked.attempt, len(attempts) - 1)]
        events: list[Event] = [Begun("r", "m")]
        if plan.began:
            events += [TextStart("0"), TextDelta("0", "Well"), TextEnd("0")]
            events += [
                ToolCall(call_id, INVENTED if name == INVENTED else names.wire(name), arguments)
                for call_id, name, arguments in plan.calls
            ]
        match plan.ending:
            case None:
                pass
            case "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other":
                usage = Usage(plan.tokens, None, None, 1)
                events.append(Finish(plan.ending, "", usage, Raw(b"[]")))
            case kind:
                events.append(Fault(kind=kind, message="secret words of the provider"))
        return events

    def _answer(self, asked: QuestionAsked) -> Raw | None:
        answer = self.answers[len(asked.question_id) % len(self.answers)]
        return None if answer is None else Raw(answer)

    def _outcome(self, run: RunCall) -> CallEnded:
        outcome = self.outcomes[len(run.input) % len(self.outcomes)]
        return run.ended(outcome, (Text(outcome),))


IDS = st.sampled_from(["a", "b", "c", "a-2", "x" * 200])


def _calls(names: list[str], arguments: list[str], least: int = 0) -> st.SearchStrategy[Any]:
    call = st.tuples(IDS, st.sampled_from(names), st.sampled_from(arguments))
    return st.lists(call, min_size=least, max_size=4, unique_by=lambda call: call[0]).map(tuple)


FINAL_KINDS: list[FaultKind] = ["unauthorized", "context-overflow", "refused"]
KINDS: list[FaultKind] = ["overloaded", "truncated", "rate-limited"]
REGISTERED = [each.name for each in TOOLS]
RUN = st.builds(
    Plan, _calls(REGISTERED, GOOD, 1), st.sampled_from(["tool-calls", "tool-calls", "stop"])
)
ODD_CALLS = _calls([*REGISTERED, INVENTED], [*GOOD, *BAD])
ODD = st.one_of(
    st.builds(Plan, ODD_CALLS, st.sampled_from(["tool-calls", "stop", "other"])),
    st.builds(Plan, ODD_CALLS, st.sampled_from(["length", "content-filter", "error"])),
    st.builds(Plan, ODD_CALLS, st.just("tool-calls"), tokens=st.sampled_from([None, 200])),
)
BROKEN = st.builds(Plan, ODD_CALLS, st.sampled_from([None, *KINDS, *FINAL_KINDS]), st.booleans())
LOST = st.builds(Plan, ODD_CALLS, st.sampled_from([None, *KINDS, "context-overflow"]))
ATTEMPTS = st.one_of(
    st.tuples(RUN),
    st.tuples(RUN),
    st.tuples(LOST, RUN),
    st.tuples(ODD),
    st.lists(st.one_of(LOST, BROKEN, ODD, RUN), min_size=1, max_size=4).map(tuple),
)

SCENARIOS = st.builds(
    Scenario,
    plans=st.lists(ATTEMPTS, min_size=2, max_size=5).map(tuple),
    answers=st.lists(st.sampled_from([*ANSWERS, None]), min_size=1, max_size=3).map(tuple),
    outcomes=st.lists(st.sampled_from(["done", "failed"]), min_size=1, max_size=2).map(tuple),
    seed=st.integers(0, 1_000),
    limits=st.builds(
        Limits,
        steps=st.sampled_from([1, 3, 4, 5]),
        repairs=st.integers(0, 2),
        concurrency=st.integers(1, 3),
        calls=st.sampled_from([2, 128, 128]),
    ),
    window=st.sampled_from([None, None, 100]),
    compacts=st.booleans(),
    tick_s=st.sampled_from([0.0, 0.0, 150.0]),
)
