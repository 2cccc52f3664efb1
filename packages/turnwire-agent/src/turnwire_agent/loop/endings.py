"""How a turn ends: what it leaves open is closed."""

from msgspec import UNSET

from turnwire_agent.journal.port import Effect
from turnwire_agent.llm.transcript import Outcome, Text
from turnwire_agent.loop import words
from turnwire_agent.loop.actions import End, Running
from turnwire_agent.loop.calls import effects
from turnwire_agent.loop.finish import Meaning
from turnwire_agent.loop.turn_state import CallState, TurnState
from turnwire_agent.loop.usage import total
from turnwire_agent.session.events import CallEnded, Event, QuestionClosed


def failing(error: str, finish_reason: str = "error") -> Meaning:
    """Return the meaning of an end that is an error, in fixed words for people."""
    return Meaning("error", finish_reason, error)


def ending(state: TurnState, running: Running, meaning: Meaning, now: float) -> End:
    """Return how a turn ends, whatever it is at.

    Args:
        state: Of the turn.
        running: What this process had in hand, and has stopped.
        meaning: Why it ends.
        now: Seconds since 1970.
    """
    events: list[Event] = []
    written: list[Effect] = []
    for call in state.open_calls:
        ended = closed(state.turn_id, call, is_ours=call.call_id in running.calls)
        events.append(ended)
        if call.begun:
            written += effects.settled(state.session_id, call.begun, ended)
    events += [
        QuestionClosed(turn_id=state.turn_id, question_id=each, at=now) for each in state.questions
    ]
    return End(
        events=tuple(events),
        effects=tuple(written),
        reason=meaning.reason,
        finish_reason=meaning.finish_reason,
        error=meaning.error,
        usage=total(step.usage for step in state.steps),
        lost_usage=total(lost.usage for lost in state.losses),
    )


def closed(turn_id: str, call: CallState, *, is_ours: bool) -> CallEnded:
    """Return the outcome of a call at the end of its turn.

    Args:
        turn_id: Of the turn.
        call: Without an outcome.
        is_ours: Whether this process ran it.
    """
    if call.begun is None:
        return refused(turn_id, call, "canceled", words.NOT_RUN)
    if is_ours:
        return refused(turn_id, call, "canceled", words.STOPPED)
    return refused(turn_id, call, "unknown", words.UNKNOWN)


def unanswered(state: TurnState, call_id: str, now: float) -> tuple[QuestionClosed, ...]:
    """Return what closes the questions of a call whose tool waits no more.

    Args:
        state: Of the turn.
        call_id: Of the call.
        now: Seconds since 1970.
    """
    return tuple(
        QuestionClosed(turn_id=state.turn_id, question_id=each.question_id, at=now)
        for each in state.questions.values()
        if each.asked_by == call_id
    )


def refused(turn_id: str, call: CallState, outcome: Outcome, why: str) -> CallEnded:
    """Return the outcome of a call that has no result.

    Args:
        turn_id: Of the turn.
        call: Which.
        outcome: Any but `done`.
        why: In words for the model and for people.
    """
    return CallEnded(
        turn_id=turn_id,
        call_id=call.call_id,
        tool=call.call.name,
        outcome=outcome,
        content=(Text(why),),
        error=why,
        input=call.checked.input if call.checked and not call.begun else UNSET,
    )
