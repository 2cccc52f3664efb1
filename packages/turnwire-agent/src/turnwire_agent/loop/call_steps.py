"""What is next with the calls of an answer."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, Raw, UnsetType

from turnwire_agent.journal.port import Effect
from turnwire_agent.llm.transcript import Outcome
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import Action, RunCall, Running, Write
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.calls import approvals, effects
from turnwire_agent.loop.calls.checked_input import CheckedInput, checked, input_hash, of_json
from turnwire_agent.loop.endings import refused, unanswered
from turnwire_agent.loop.finish import meaning
from turnwire_agent.loop.turn_state import CallState, TurnState
from turnwire_agent.session.events import CallEnded, Event, QuestionAsked
from turnwire_agent.tools.contract import Effect as Policy
from turnwire_agent.tools.contract import Tool

OPTIONS: Final = ("approve", "deny")


def next_of_calls(
    state: TurnState, agent: Agent, running: Running, now: float
) -> tuple[Action, ...]:
    """Return what is next with the open calls of the last answer; nothing if they must be awaited.

    What is known without running a tool is written first: refusals, outcomes that nobody will ever
    know, questions. Then tools run, as many as may.
    """
    calls = [call for call in state.open_calls if call.call_id not in running.calls]
    if events := _never_run(state, agent, calls):
        return (Write(events),)
    plans = [_plan(state, agent, call, now) for call in calls]
    facts: list[Event] = [plan for plan in plans if isinstance(plan, CallEnded | QuestionAsked)]
    if _is_repair_too_many(state, agent, facts):
        facts = [*_all_refused(state, calls, facts)]
    if facts:
        closed = [
            each
            for fact in facts
            if isinstance(fact, CallEnded)
            for each in unanswered(state, fact.call_id, now)
        ]
        return (Write((*closed, *facts), _lost_effects(state, facts)),)
    return _startable([plan for plan in plans if isinstance(plan, RunCall)], state, agent, running)


def _never_run(state: TurnState, agent: Agent, calls: Sequence[CallState]) -> tuple[Event, ...]:
    """Answer calls of which none runs, whatever they are."""
    means = meaning(state.steps[-1], agent.window)
    fresh = [call for call in calls if call.begun is None]
    outcome: Outcome = "canceled"
    why = words.NOT_RUN
    if means.calls == "run" and state.step < agent.limits.steps:
        fresh = [call for call in fresh if call.position >= agent.limits.calls]
        why = words.TOO_MANY_CALLS
    elif state.step >= agent.limits.steps:
        why = words.STEP_LIMIT
    elif means.calls == "repair":
        outcome, why = "failed", words.CUT
    return tuple(refused(state.turn_id, call, outcome, why) for call in fresh)


def _plan(
    state: TurnState, agent: Agent, call: CallState, now: float
) -> CallEnded | QuestionAsked | RunCall | None:
    """What is next with one call that nobody runs. None: a person is asked."""
    tool = agent.tools.get(call.call.name)
    if call.begun:
        return _again(state, call, tool)
    if call.is_asking:
        return None
    if tool is None:
        unknown = agent.tools.wire(agent.model.shape).unknown(call.call.name)
        return refused(state.turn_id, call, "failed", unknown)
    asked, closed = call.asked, call.closed
    if closed and not approvals.approved(closed.answer):
        return refused(state.turn_id, call, "denied", approvals.refusal(closed.answer))
    is_approved = asked is not None and asked.tool_digest == tool.digest
    fresh = _checked(call, tool, asked.input if asked and is_approved else UNSET)
    if fresh.problem is not None:
        return refused(state.turn_id, call, "failed", fresh.problem)
    if (fresh.asks or asked) and not is_approved:
        return _question(state, agent, call, tool, now)
    return _run(state, call, tool, fresh)


def _checked(call: CallState, tool: Tool, allowed: Raw | UnsetType) -> CheckedInput:
    """Check the input of a call once in this process: the one that a person allowed, if any."""
    memo = call.checked
    if memo is None or (allowed is not UNSET and memo.input != allowed):
        memo = checked(tool, call.call.arguments) if allowed is UNSET else of_json(tool, allowed)
        call.checked = memo
    return memo


def _again(state: TurnState, call: CallState, tool: Tool | None) -> CallEnded | RunCall:
    """What is next with a call whose process died while it ran."""
    begun = call.begun
    assert begun
    if tool and Policy.ONCE not in {Policy(begun.effect), tool.effect}:
        fresh = of_json(tool, begun.input, has_key=True)
        if fresh.problem is None:
            return _run(state, call, tool, fresh)
    return refused(state.turn_id, call, "unknown", words.UNKNOWN)


def _run(state: TurnState, call: CallState, tool: Tool, fresh: CheckedInput) -> RunCall:
    assert fresh.input is not UNSET
    begun = call.begun
    own = fresh.key or effects.key(state.session_id, state.turn_id, call.call_id)
    return RunCall(
        session_id=state.session_id,
        turn_id=state.turn_id,
        call_id=call.call_id,
        tool=tool,
        value=fresh.value,
        input=fresh.input,
        key=begun.key if begun else own,
        run=begun.run + 1 if begun else 0,
    )


def _question(
    state: TurnState, agent: Agent, call: CallState, tool: Tool, now: float
) -> QuestionAsked:
    """Ask a person whether a call is allowed, with the input that will be run."""
    memo = call.checked
    assert memo
    assert memo.input is not UNSET
    again = f"-{call.questions + 1}" if call.questions else ""
    return QuestionAsked(
        turn_id=state.turn_id,
        question_id=f"{state.turn_id}-{call.call_id}{again}",
        text=f"May {tool.name} run?",
        options=OPTIONS,
        expires_at=now + agent.limits.question_s,
        call_id=call.call_id,
        tool=tool.name,
        input=memo.input,
        input_hash=input_hash(memo.input),
        tool_digest=tool.digest,
        at=now,
    )


def _is_repair_too_many(state: TurnState, agent: Agent, facts: Sequence[Event]) -> bool:
    """Whether these outcomes refuse calls in one step more than there may be."""
    refuses = any(isinstance(fact, CallEnded) and fact.outcome == "failed" for fact in facts)
    others = state.refused_steps - {state.steps[-1].step}
    return refuses and len(others) >= agent.limits.repairs


def _all_refused(
    state: TurnState, calls: Sequence[CallState], facts: Sequence[Event]
) -> list[CallEnded]:
    """Keep the outcomes that there are; no other call that has not begun will run."""
    ended = [fact for fact in facts if isinstance(fact, CallEnded)]
    settled = {fact.call_id for fact in ended}
    return ended + [
        refused(state.turn_id, call, "canceled", words.TOO_MANY_REPAIRS)
        for call in calls
        if call.begun is None and call.call_id not in settled
    ]


def _lost_effects(state: TurnState, facts: Sequence[Event]) -> tuple[Effect, ...]:
    """What is written with the outcomes of calls that began and are not run again."""
    return tuple(
        effect
        for fact in facts
        if isinstance(fact, CallEnded) and (begun := state.calls[fact.call_id].begun)
        for effect in effects.settled(state.session_id, begun, fact)
    )


def _startable(
    runs: Sequence[RunCall], state: TurnState, agent: Agent, running: Running
) -> tuple[RunCall, ...]:
    """Return the calls that may begin now, in the order of the model.

    One whose tool is sequential runs alone. Those behind it wait for it.
    """
    tools = [agent.tools.get(state.calls[call_id].call.name) for call_id in running.calls]
    if any(tool and tool.sequential for tool in tools):
        return ()
    started: list[RunCall] = []
    for run in runs[: max(0, agent.limits.concurrency - len(tools))]:
        if run.tool.sequential and (tools or started):
            break
        started.append(run)
        if run.tool.sequential:
            break
    return tuple(started)
