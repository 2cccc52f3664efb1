"""The numbers a stream lives by."""

import enum
import math
from typing import Final

from msgspec import Struct


class Hangup(enum.Enum):
    """What becomes of the agent's turn when its client hangs up."""

    ABORT = "abort"
    CONTINUE = "continue"
    """It goes on to its end, and the stream with it, without its client."""
    GRACE = "grace"
    """It goes on for a while, and is aborted if nobody came back by then."""
    LET_GO = "let_go"
    """Nothing: who only looked on leaves, and the stream ends. No request may ask for it."""


POLICIES: Final = (Hangup.ABORT, Hangup.GRACE, Hangup.CONTINUE)
"""What may be asked for, the strictest first: it costs the agent least."""


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
    """Longest time without a byte to the client. The caller shortens it by its jitter."""
    stall_s: float = 20.0
    """Longest time without progress at a client that does not read."""
    drain_s: float = 30.0
    """How long open turns may go on once the gateway drains."""
    hold_s: float = 5.0
    """How long a dialect may hold the response headers back."""
    backlog_bytes: int = 1_048_576
    """Most bytes held for a client that does not read, beyond what one read brought."""
    expires_at: float = math.inf
    """When the client's token cuts the stream, on the caller's clock."""
    on_hangup: Hangup = Hangup.ABORT
    grace_s: float = 30.0
    """How long a client may stay away before its turn is aborted, under `Hangup.GRACE`."""
