"""What becomes of a turn whose next connection to the agent could not be opened."""

from collections.abc import Callable
from typing import Final, TypeAlias

from turnwire.core.agent import AgentProtocol, Decoded, Redials
from turnwire.core.turn.inputs import AgentLeft, Refused, Unreachable

FAILED_MAX: Final = 10
"""Most connections of a turn that may end in a row, or fail to open, and be followed by a dial."""

End: TypeAlias = AgentLeft | Unreachable | Refused

Ask: TypeAlias = Callable[[float], Decoded | None]


def nobody(_now: float) -> Decoded | None:
    """Return None: the stream ends."""
    return None


def whom_to_ask(
    protocol: AgentProtocol,
    end: End,
    is_begun: bool,  # noqa: FBT001 (as it is handed on)
    is_connected: bool,  # noqa: FBT001
    ends: int,
) -> Ask:
    """Return what says whether the turn goes on without its agent.

    `is_begun`: the response to the client has begun, so a connection was open before; until then, a
    failed dial is an HTTP status. `is_connected`: one is open. `ends`: how many ended or could not
    be opened since one was opened.
    """
    if isinstance(end, AgentLeft):
        return protocol.connection_lost if is_connected else nobody
    is_redial = is_begun and not is_connected and ends <= FAILED_MAX
    return protocol.dial_failed if is_redial and isinstance(protocol, Redials) else nobody
