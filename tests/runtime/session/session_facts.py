"""A session's state in a form that compares, and sessions in a few words."""

from collections.abc import Iterable
from typing import Any

from turnwire_agent.session.events import Event
from turnwire_agent.session.history import Exchange
from turnwire_agent.session.state import SessionState


def folded(events: Iterable[Event]) -> SessionState:
    state = SessionState()
    for event in events:
        state.apply(event)
    return state


def exchange_facts(exchange: Exchange) -> dict[str, Any]:
    return {name: getattr(exchange, name) for name in Exchange.__slots__}


def facts(state: SessionState) -> dict[str, Any]:
    """Everything that a state is."""
    running = state.running
    return {
        "history": [exchange_facts(each) for each in state.history],
        "queue": state.queue,
        "running": running
        and {
            "turn_id": running.turn_id,
            "prompt": running.prompt,
            "events": running.events,
            "parked": running.parked,
            "questions": running.open_questions,
            "now": running.parts.now(),
            "log": running.parts.log(),
        },
    }
