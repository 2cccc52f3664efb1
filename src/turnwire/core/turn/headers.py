"""When the response headers of a stream go out.

The headers carry the status: 200 for a stream, or the HTTP error that the web layer makes of a
rejection. So they are held back until the agent's side can no longer reject the request, but for
no longer than `Limits.hold_s` after the connection to the agent opened. Once they are out, a
rejection can only be an error chunk.

If the dial failed, the web layer decides (`web.routes.stream_response`): some statuses of the agent
(`web.routes.agent_target.is_http_error`) become an HTTP error. Any other failure is given to the
`Turn` as `Unreachable` or `Refused`, and becomes an error in the stream.
"""

import enum
from typing import Final

import msgspec

from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome


class Headers(enum.Enum):
    """What to do with the response headers now."""

    HOLD = enum.auto()
    """Wait: the request may still be rejected."""
    SEND = enum.auto()
    """Send status 200 and the first bytes of the stream."""
    STATUS = enum.auto()
    """Send nothing: the web layer answers with an HTTP status of its own."""


_STATUSES: Final = frozenset({Outcome.REFUSED, Outcome.NOTHING})
"""Outcomes that are HTTP statuses, if no headers are sent yet."""


def decide(
    outcome: Outcome | None, *, is_connected: bool, is_accepted: bool, is_hold_over: bool
) -> Headers:
    """Decide for a stream whose headers are not sent yet.

    `is_connected`: the connection to the agent is open. `is_accepted`: the dialect can no longer
    reject the request. `is_hold_over`: `Limits.hold_s` passed since the connection opened.
    """
    if outcome is None:
        return Headers.SEND if is_connected and (is_accepted or is_hold_over) else Headers.HOLD
    return Headers.STATUS if outcome in _STATUSES else Headers.SEND


def hold_for_init(limits: Limits, init_s: float) -> Limits:
    """Limits for a request that the dialect accepts or rejects only after the agent's `init`.

    The dialect waits up to `init_s` seconds for `init`. The headers are held for twice that time,
    so that its verdict comes first.
    """
    return msgspec.structs.replace(limits, hold_s=2 * init_s)
