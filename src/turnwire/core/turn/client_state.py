"""The client of one stream: whether it reads, and what happens to the stream after it left.

READING <--> BLOCKED
READING | BLOCKED --client disconnects--> DETACHED | ABSENT | GONE
BLOCKED --gateway closes the connection--> GONE
DETACHED --client does not return in time--> GONE
"""

import enum

from turnwire.core.agent import NEVER
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome, outcome_without_client


class Client(enum.Enum):
    READING = enum.auto()
    BLOCKED = enum.auto()
    """Its buffer is full. No frame is read from the agent until the buffer has room."""
    DETACHED = enum.auto()
    """It disconnected, and may come back."""
    ABSENT = enum.auto()
    """It left, and the policy is to continue: our turn goes on, and timers do not abort it."""
    GONE = enum.auto()
    """It left. Our turn is aborted as soon as an abort stops no other turn."""


READING, BLOCKED, DETACHED, ABSENT, GONE = Client  # access to an enum's attributes is slow


class ClientState:
    """The state of a client. `deadline` is the time until which that state may last."""

    __slots__ = ("_blocked_at", "_is_cut_off", "_limits", "client", "deadline")

    def __init__(self, limits: Limits) -> None:
        self.client = READING
        self.deadline = NEVER
        self._limits = limits
        self._blocked_at = NEVER
        self._is_cut_off = False
        """Whether the client is gone because the gateway closed its connection."""

    @property
    def has_left(self) -> bool:
        return self.client is not READING and self.client is not BLOCKED

    def mark_blocked(self, now: float) -> None:
        if self.client is READING:
            self.client = BLOCKED
            self._blocked_at = now
            self.deadline = now + self._limits.stall_s

    def mark_progress(self, now: float) -> None:
        """Note that the client read some bytes. No effect unless it is blocked."""
        if self.client is BLOCKED:
            self.deadline = now + self._limits.stall_s

    def mark_unblocked(self) -> float | None:
        """Note that the client reads again. Returns when it became blocked; None if it was not."""
        if self.client is not BLOCKED:
            return None
        self.client = READING
        self.deadline = NEVER
        return self._blocked_at

    def mark_detached(self, now: float) -> None:
        self.client = DETACHED
        self.deadline = now + self._limits.grace_s

    def mark_absent(self) -> None:
        self.client = ABSENT
        self.deadline = NEVER

    def mark_gone(self, now: float, *, is_cut_off: bool = False) -> None:
        self.client = GONE
        self.deadline = now + self._limits.queue_wait_s
        self._is_cut_off = is_cut_off

    def outcome(self, verdict: Outcome, *, has_begun: bool) -> Outcome:
        """The outcome of a stream: `verdict`, or how the client left if it did.

        `has_begun`: whether our turn began.
        """
        if not self.has_left:
            return verdict
        return outcome_without_client(is_cut_off=self._is_cut_off, has_begun=has_begun)
