"""The coding agent pi, by the lines of its RPC mode, each of them a text frame of a WebSocket.

A process of pi has one conversation at a time, and tells everything to whoever reads it. So there
are two dialects: for a bridge that starts a process for each connection, as `turnwire bridge` does,
and for one whose process is shared by several connections.
"""

import turnwire.dialect as td
from pi_dialect.frames import SCHEMA
from pi_dialect.turn import Turn

__all__ = ["Pi", "PiShared"]


class Pi(td.PromptsOnly):
    """Each connection has a process of its own, which opens the session file of its chat."""

    name = "pi"
    surface = "1"
    transport = "websocket"
    features = frozenset(
        {
            *(td.Feature.REASONING, td.Feature.TOOL_INPUT, td.Feature.QUESTIONS),
            *(td.Feature.FILES_SENT, td.Feature.FILES_MADE, td.Feature.USAGE),
        }
    )
    schema = SCHEMA
    is_alone = True

    def prompt(
        self, request: td.PromptRequest, member: td.Member | None = None, /
    ) -> td.AgentProtocol:
        """Return the protocol of one turn."""
        return Turn(request, member, is_alone=self.is_alone)


class PiShared(Pi):
    """Several connections have one process: a message of our text is where our turn begins."""

    name = "pi-shared"
    is_alone = False
