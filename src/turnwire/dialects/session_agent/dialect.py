"""The dialect itself: its name, its defaults, and what it makes of every request."""

from collections.abc import Sequence

from turnwire.core.dialect import Ask, Look
from turnwire.core.errand import Answer, Recall, Stop
from turnwire.core.room import Seat
from turnwire.dialects.session_agent.answering import Answering
from turnwire.dialects.session_agent.continuing import Continuing
from turnwire.dialects.session_agent.conversation import Conversation
from turnwire.dialects.session_agent.recalling import Recalling
from turnwire.dialects.session_agent.resuming import Resuming
from turnwire.dialects.session_agent.stopping import Stopping
from turnwire.dialects.session_agent.vocabulary import VOCABULARY


class SessionAgent:
    """The dialect named `session-agent`."""

    name = "session-agent"
    subprotocols: Sequence[str] = ("valet", "agent-ops")
    """A and V answer `valet` even to a client that offers none (page 2.1)."""
    idle_s = 330.0
    """Questions wait for 300 s, and a model may be silent as long (page 1, row 14)."""
    vocabulary = VOCABULARY

    def prompt(self, ask: Ask, seat: Seat | None = None) -> Conversation:
        return Conversation(ask, seat or Seat())

    def resume(self, look: Look, seat: Seat | None = None) -> Resuming:
        return (Continuing if look.replies else Resuming)(look, seat or Seat())

    def stop(self, stop: Stop) -> Stopping:
        return Stopping(stop)

    def answer(self, answer: Answer) -> Answering:
        return Answering(answer)

    def recall(self, recall: Recall) -> Recalling:
        return Recalling(recall)
