"""Decide whether the gateway aborts the turn at the agent when a stream ends before its turn.

That happens when the client leaves, when the client reads too slowly, or when the gateway ends the
stream. The decision depends on three things: the policy of the request (`DisconnectPolicy`), the
state of the client, and which turns an abort would stop now (`AbortScope`). This module only
decides; `Turn` acts.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, assert_never

from turnwire.core.agent import AbortScope
from turnwire.core.turn.client_state import Client
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome


class Decision(enum.Enum):
    """What happens to a stream without a client, and to its turn."""

    ABORT = enum.auto()
    """End the stream. Send an abort if the scope is `OURS`; if it is `NONE`, there is nothing to
    abort."""
    WAIT = enum.auto()
    """The stream goes on without the client. When an abort would stop only our turn, abort it."""
    LEAVE = enum.auto()
    """End the stream and send no abort. If a turn runs, the agent decides whether it goes on."""
    GRACE = enum.auto()
    """The stream goes on without the client for `Limits.grace_s`.

    If the client comes back in that time, or if other clients follow the turn, the stream ends and
    the turn goes on. If the turn would end with its stream, the stream goes on as long as they
    follow, and the time begins anew when the last one left. Otherwise `when_client_is_gone`
    decides."""
    CONTINUE = enum.auto()
    """The stream goes on without the client, to the end of the turn."""


_POLICIES: Final[Mapping[DisconnectPolicy, Decision]] = MappingProxyType(
    {
        DisconnectPolicy.ABORT: Decision.ABORT,
        DisconnectPolicy.GRACE: Decision.GRACE,
        DisconnectPolicy.CONTINUE: Decision.CONTINUE,
        DisconnectPolicy.LET_GO: Decision.LEAVE,
    }
)


_GOES_ON: Final = frozenset({DisconnectPolicy.CONTINUE, DisconnectPolicy.GRACE})
"""Policies under which a turn outlives its client, at least for a while."""


def when_client_left(limits: Limits, *, is_connected: bool) -> Decision:
    """Decide for a stream whose client disconnected.

    `is_connected`: the connection to the agent is open. Before that the agent has no prompt of
    ours, so there is no turn to abort, and the stream ends. Only under `DisconnectPolicy.CONTINUE`
    it goes on, and still sends the prompt. So it does under `DisconnectPolicy.GRACE` if the turn
    log keeps the turn: the client finds it there.
    """
    policy = limits.on_disconnect
    goes_on = policy is DisconnectPolicy.CONTINUE or (limits.is_kept and policy in _GOES_ON)
    return _POLICIES[policy] if goes_on or is_connected else Decision.LEAVE


def when_client_is_parted(limits: Limits) -> Decision:
    """Decide for a turn whose client the gateway disconnects: it is too slow, or its token expired.

    If the turn log keeps the turn, that is as if the client had left: it finds the turn there.
    """
    policy = limits.on_disconnect
    return _POLICIES[policy] if limits.is_kept and policy in _GOES_ON else Decision.ABORT


def when_client_is_gone(scope: AbortScope) -> Decision:
    """Decide for a turn whose client will not come back, or reads too slowly."""
    return Decision.WAIT if scope is AbortScope.SHARED else Decision.ABORT


def when_ended(outcome: Outcome, policy: DisconnectPolicy, client: Client) -> bool:
    """Whether the turn is aborted when the gateway ends the stream with this outcome.

    It returns no `Decision`, since the stream ends in any case. Even if True, the protocol sends
    abort frames only if its scope is `AbortScope.OURS`. `CLIENT_GONE` is False: whether a client
    that left aborts its turn is decided before that outcome, in the functions above.
    """
    match outcome:
        case Outcome.UNSOUND | Outcome.SLOW_CLIENT | Outcome.CANCELED:
            return True  # the last one: a user stopped the turn beside the stream
        case Outcome.SILENT | Outcome.TOO_LONG:
            return client is not Client.ABSENT  # it left under `CONTINUE`: its turn goes on
        case Outcome.EXPIRED:
            return policy is not DisconnectPolicy.CONTINUE
        case (
            Outcome.COMPLETED
            | Outcome.FAILED
            | Outcome.REFUSED
            | Outcome.NOTHING
            | Outcome.ASKED
            | Outcome.CLIENT_GONE
            | Outcome.ABANDONED
            | Outcome.UNREACHABLE
            | Outcome.AGENT_REFUSED
            | Outcome.INTERRUPTED
            | Outcome.UNNAMED
            | Outcome.CRASHED
            | Outcome.DRAINING
        ):
            return False
        case _:
            assert_never(outcome)
