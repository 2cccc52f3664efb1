"""Whether the end of a stream aborts its turn at the agent.

A stream ends before its turn because its client left or is too slow, or because the gateway ends
it. The decision depends on the policy of the request (`DisconnectPolicy`), on the state of the
client, and on the turns that an abort would stop now (`AbortScope`). `Turn` carries it out.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, assert_never

from turnwire.core.agent import AbortScope
from turnwire.core.turn.client_state import Client
from turnwire.core.turn.limits import DisconnectPolicy
from turnwire.core.turn.outcome import Outcome


class Decision(enum.Enum):
    """What becomes of a stream whose client left, and of its turn."""

    ABORT = enum.auto()
    """End the stream and send the agent's abort frames: none, unless the scope is `OURS`."""
    WAIT = enum.auto()
    """Go on without the client until an abort would stop our turn alone; then abort it."""
    LEAVE = enum.auto()
    """End the stream. The turn goes on at the agent."""
    GRACE = enum.auto()
    """Go on for `Limits.grace_s`: the client may come back.

    If it does, or if others follow the turn, the stream ends and the turn goes on. If nobody comes,
    the turn is aborted as for a client that is gone (`when_client_is_gone`)."""
    CONTINUE = enum.auto()
    """Go on to the end of the turn without the client."""


_POLICIES: Final[Mapping[DisconnectPolicy, Decision]] = MappingProxyType(
    {
        DisconnectPolicy.ABORT: Decision.ABORT,
        DisconnectPolicy.GRACE: Decision.GRACE,
        DisconnectPolicy.CONTINUE: Decision.CONTINUE,
        DisconnectPolicy.LET_GO: Decision.LEAVE,
    }
)


def when_client_left(policy: DisconnectPolicy, *, is_connected: bool) -> Decision:
    """Decide for a client that disconnected.

    Before the connection to the agent is open (`is_connected`) nothing was asked of the agent, so
    there is nothing to abort; only `DisconnectPolicy.CONTINUE` still sends the prompt.
    """
    if policy is DisconnectPolicy.CONTINUE or is_connected:
        return _POLICIES[policy]
    return Decision.LEAVE


def when_client_is_gone(scope: AbortScope) -> Decision:
    """Decide for a turn whose client is gone for good, or is too slow to follow it."""
    return Decision.WAIT if scope is AbortScope.SHARED else Decision.ABORT


def when_ended(outcome: Outcome, policy: DisconnectPolicy, client: Client) -> bool:
    """Whether the gateway aborts the turn when it ends the stream with this outcome.

    The protocol still sends no abort frames unless its scope is `AbortScope.OURS`.
    """
    match outcome:
        case Outcome.UNSOUND | Outcome.SLOW_CLIENT:
            return True
        case Outcome.SILENT | Outcome.TOO_LONG:
            return client is not Client.ABSENT  # an absent client wants its turn to go on
        case Outcome.EXPIRED:
            return policy is not DisconnectPolicy.CONTINUE
        case (
            Outcome.COMPLETED
            | Outcome.FAILED
            | Outcome.CANCELED
            | Outcome.REFUSED
            | Outcome.NOTHING
            | Outcome.ASKED
            | Outcome.CLIENT_GONE
            | Outcome.ABANDONED
            | Outcome.UNREACHABLE
            | Outcome.INTERRUPTED
            | Outcome.UNNAMED
            | Outcome.CRASHED
            | Outcome.DRAINING
        ):
            return False
        case _:
            assert_never(outcome)
