"""What is next in a turn: one function of its state. It is the same after a crash as before.

Rules that no branch here may break: a model is asked only when each call of the answer before has
its outcome; a call runs only when its answer is whole; nothing of an answer that broke off counts;
what a tool does once is begun once.
"""

from turnwire_agent.llm import faults
from turnwire_agent.loop import call_steps, words
from turnwire_agent.loop.actions import Action, AskModel, Compact, End, Park, Running, Write
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.endings import ending, failing
from turnwire_agent.loop.finish import Meaning, meaning
from turnwire_agent.loop.turn_state import DIED, OVERFLOW, TurnState
from turnwire_agent.session.events import AttemptLost, QuestionClosed


def decide(state: TurnState, agent: Agent, running: Running, now: float) -> tuple[Action, ...]:
    """Return what is next: one or more `RunCall`, or one action of another kind.

    Nothing: what is in hand has to end first, or the time of `due_at` to come.

    Args:
        state: Of the turn, with all events that are committed.
        agent: What the turn works with.
        running: What this process has in hand.
        now: Seconds since 1970.
    """
    if state.is_over:
        return ()
    if state.attempt and not running.attempt:
        return (_died(state),)
    over = _over(state, agent)
    if over is None and (too_much := _too_much(state, agent, now)):
        over = failing(too_much)
    if over:
        return (ending(state, running, over, now),)
    if expired := _expired(state, now):
        return (expired,)
    if running.attempt or running.compacting:
        return ()
    if state.open_calls:
        return call_steps.next_of_calls(state, agent, running, now) or _waiting(state, running)
    return (_model(state, agent, running, now),)


def due_at(state: TurnState, agent: Agent) -> float | None:
    """Return when `decide` may have something new to say though nothing happens.

    Seconds since 1970. A turn has no end of its time while people are asked.
    """
    if state.questions:
        return _first_expiry(state)
    return state.begun_at + state.waited_s + agent.limits.turn_s


def _waiting(state: TurnState, running: Running) -> tuple[Action, ...]:
    return () if running.calls else (Park(_first_expiry(state)),)


def _first_expiry(state: TurnState) -> float | None:
    times = [each.expires_at for each in state.questions.values() if each.expires_at is not None]
    return min(times, default=None)


def _died(state: TurnState) -> Write:
    attempt = state.attempt
    assert attempt
    return Write(
        (
            AttemptLost(
                turn_id=state.turn_id,
                step=attempt.step,
                attempt=attempt.attempt,
                since=attempt.since,
                why=DIED,
            ),
        )
    )


def _over(state: TurnState, agent: Agent) -> Meaning | None:
    """The end of a turn whose last answer is its last, and whose calls have their outcomes."""
    if not state.steps or state.open_calls or state.attempt:
        return None
    last = state.steps[-1]
    means = meaning(last, agent.window)
    if not last.call_ids or means.calls == "end":
        return means
    if len(state.refused_steps) > agent.limits.repairs:
        return failing(words.REPAIRS)
    if state.step >= agent.limits.steps:
        return Meaning(finish_reason="max-steps")
    return None


def _too_much(state: TurnState, agent: Agent, now: float) -> str | None:
    """Why a turn is given up, in words for people."""
    limits = agent.limits
    if state.takeovers > limits.takeovers:
        return words.TAKEN_OVER
    if state.reruns > limits.reruns:
        return words.RERUNS
    if not state.questions and now >= state.begun_at + state.waited_s + limits.turn_s:
        return words.OUT_OF_TIME
    return None


def _expired(state: TurnState, now: float) -> Write | None:
    """Close the questions whose time is over."""
    expired = [
        QuestionClosed(turn_id=state.turn_id, question_id=question_id, at=now)
        for question_id, asked in state.questions.items()
        if asked.expires_at is not None and now >= asked.expires_at
    ]
    return Write(tuple(expired)) if expired else None


def _model(
    state: TurnState, agent: Agent, running: Running, now: float
) -> AskModel | Compact | End:
    """Ask the model, unless its last attempt says that this is no use."""
    lost = state.lost
    can_compact = agent.compacts and not state.has_compacted
    if lost and lost.why == OVERFLOW:
        end = ending(state, running, failing(words.LOSSES[OVERFLOW], "context"), now)
        return Compact(transcript=state.transcript, otherwise=end) if can_compact else end
    if lost and lost.why != DIED:
        is_final = lost.final or lost.why not in faults.TRANSIENT
        if is_final or state.faults >= agent.limits.attempts:
            return ending(state, running, failing(words.of_loss(lost.why, lost.retry_after_s)), now)
    return AskModel(
        turn_id=state.turn_id,
        step=state.step,
        attempt=state.next_attempt,
        model=agent.model,
        transcript=state.transcript,
        names=tuple(
            (wire, name)
            for wire, name in agent.tools.wire(agent.model.shape).registered.items()
            if wire != name
        ),
        used_ids=frozenset(state.calls),
        retries_overflow=can_compact,
    )
