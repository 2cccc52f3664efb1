"""The client of one stream: whether it reads, and what becomes of the stream once it left.

READING <--> BLOCKED
READING | BLOCKED --hangs up--> AWAY | ABSENT | GONE
BLOCKED --is cut off--> GONE
AWAY --nobody came back--> GONE
"""

import enum

from turnwire.core.dialect import NEVER
from turnwire.core.limits import Limits
from turnwire.core.outcome import Outcome


class Client(enum.Enum):
    READING = enum.auto()
    BLOCKED = enum.auto()
    """Its buffer is full; nothing is read from the agent until it is not."""
    AWAY = enum.auto()
    """It hung up, and may come back."""
    ABSENT = enum.auto()
    """It left for good; our turn goes on without it, and is never aborted."""
    GONE = enum.auto()
    """It left: our turn is aborted as soon as that hits it alone."""


READING, BLOCKED, AWAY, ABSENT, GONE = Client  # an enum's attributes are slow


class Presence:
    """Where a client is, and `until` when that may last."""

    def __init__(self, limits: Limits) -> None:
        self.client = READING
        self.until = NEVER
        self._limits = limits
        self._blocked_at = NEVER
        self._is_cut = False
        """Of one that is gone: we closed its connection."""

    @property
    def left(self) -> bool:
        return self.client is not READING and self.client is not BLOCKED

    def blocked(self, now: float) -> None:
        if self.client is READING:
            self.client = BLOCKED
            self._blocked_at = now
            self.until = now + self._limits.stall_s

    def progressed(self, now: float) -> None:
        """It read something, if it is blocked."""
        if self.client is BLOCKED:
            self.until = now + self._limits.stall_s

    def unblocked(self) -> float | None:
        """It reads. Returns since when it did not, if it was blocked."""
        if self.client is not BLOCKED:
            return None
        self.client = READING
        self.until = NEVER
        return self._blocked_at

    def away(self, now: float) -> None:
        self.client = AWAY
        self.until = now + self._limits.grace_s

    def absent(self) -> None:
        self.client = ABSENT
        self.until = NEVER

    def gone(self, now: float, *, cut: bool = False) -> None:
        self.client = GONE
        self.until = now + self._limits.queue_wait_s
        self._is_cut = cut

    def outcome(self, verdict: Outcome, *, began: bool) -> Outcome:
        """How a stream ends that ends like this, by whether its turn began."""
        if not self.left:
            return verdict
        if self._is_cut:
            return Outcome.SLOW_CLIENT
        return Outcome.CLIENT_GONE if began else Outcome.ABANDONED
