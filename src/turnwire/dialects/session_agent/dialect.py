"""The dialect itself: its name, its defaults, and a conversation for every prompt."""

from collections.abc import Sequence

from turnwire.core.dialect import Ask
from turnwire.dialects.session_agent.claims import Claims
from turnwire.dialects.session_agent.conversation import Conversation


class SessionAgent:
    """The dialect named `session-agent`."""

    name = "session-agent"
    subprotocols: Sequence[str] = ("valet", "agent-ops")
    """A and V answer `valet` even to a client that offers none (page 2.1)."""
    idle_s = 330.0
    """Questions wait for 300 s, and a model may be silent as long (page 1, row 14)."""

    def prompt(self, ask: Ask, claims: Claims | None = None) -> Conversation:
        return Conversation(ask, claims)
