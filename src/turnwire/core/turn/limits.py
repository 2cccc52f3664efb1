"""The limits of one stream: times, sizes and the disconnect policy."""

import enum
import math
from typing import Final

from msgspec import Struct


class DisconnectPolicy(enum.Enum):
    """What happens to the agent's turn when its client disconnects."""

    ABORT = "abort"
    CONTINUE = "continue"
    """The turn goes on to its end. The stream follows it to the end, without its client."""
    GRACE = "grace"
    """The turn goes on for `grace_s`, and is aborted if no client came back by then."""
    LET_GO = "let_go"
    """The turn is not touched and the stream ends: the client only watched. No request may ask for
    this policy."""


POLICIES: Final[dict[str, DisconnectPolicy]] = {
    policy.value: policy
    for policy in (DisconnectPolicy.ABORT, DisconnectPolicy.GRACE, DisconnectPolicy.CONTINUE)
}
"""The policies that a setting or a request may name, the strictest first: it costs the agent least.
"""


class Limits(Struct, frozen=True, kw_only=True):
    """Defaults are those of the settings; all times are in seconds."""

    idle_s: float = 120.0
    """Longest silence of the agent."""
    tool_silence_s: float = 600.0
    """Longest silence while a tool runs."""
    question_wait_s: float = 330.0
    """Longest silence while a question is open."""
    queue_wait_s: float = 600.0
    """Longest silence while the prompt waits behind another turn."""
    turn_s: float = 3600.0
    """Longest turn."""
    keepalive_s: float = 15.0
    """Longest time without a byte to the client. The caller subtracts its jitter."""
    stall_s: float = 20.0
    """Longest time that a blocked client may go without reading any byte."""
    drain_s: float = 30.0
    """How long open turns may go on after the gateway starts to drain."""
    hold_s: float = 5.0
    """How long the response headers wait for the dialect to accept or reject the request."""
    backlog_bytes: int = 1_048_576
    """Most bytes that wait for a blocked client, not counting the write that blocked it."""
    expires_at: float = math.inf
    """When the client's token expires and the stream ends, on the caller's clock."""
    on_disconnect: DisconnectPolicy = DisconnectPolicy.ABORT
    grace_s: float = 30.0
    """How long a client may be disconnected before its turn is aborted, under
    `DisconnectPolicy.GRACE`."""
    holds_turn: bool = False
    """Whether the agent's turn ends with the stream. So a stream without a client goes on while
    others read the turn in the turn log."""
    is_kept: bool = False
    """Whether the turn log keeps the turn, so that its client finds it there again, whatever
    separated them."""
