"""What models are sent: the transcript before a turn, and within it."""

from collections.abc import Sequence
from itertools import takewhile

from turnwire_agent.llm.transcript import Message, Transcript
from turnwire_agent.session.events import Compacted, Event
from turnwire_agent.session.prompted import user_message
from turnwire_agent.session.running import RunningTurn
from turnwire_agent.session.state import SessionState
from turnwire_agent.session.turn_messages import messages_of

__all__ = ["messages_of", "transcript_for", "transcript_now"]


def transcript_for(state: SessionState, running: RunningTurn) -> Transcript:
    """All that was before a turn on its channel, and its prompt as the last message."""
    messages: list[Message] = []
    exchanges = state.history.of(running.prompt.channel)
    for each in takewhile(lambda each: each is not running.exchange, exchanges):
        if each.compacted is None:
            messages.append(user_message(each.prompt))
        else:
            messages = list(each.compacted)
        messages += each.messages
    return (*messages, user_message(running.prompt))


def transcript_now(before: Transcript, events: Sequence[Event]) -> Transcript:
    """What the next call of a model in a turn is sent.

    Args:
        before: What `transcript_for` returned for the turn.
        events: Of the turn, so far.

    """
    compacted = (each.transcript for each in reversed(events) if isinstance(each, Compacted))
    return (*next(compacted, before), *messages_of(events))
