"""What is not known of a turn that is stopped."""

from collections.abc import Sequence

from turnwire_agent.journal.port import Effect
from turnwire_agent.loop.calls import effects
from turnwire_agent.session.events import CallBegun, CallEnded, Event


def left_open(session: str, events: Sequence[Event]) -> tuple[Effect, ...]:
    """Return the effects of calls that run, and of whose outcome nobody will hear."""
    ended = {each.call_id for each in events if isinstance(each, CallEnded)}
    begun = [each for each in events if isinstance(each, CallBegun)]
    return tuple(
        effect
        for each in begun
        if each.call_id not in ended
        for effect in effects.left_open(session, each)
    )
