"""The client of one stream: whether it reads, and what happens to the stream after it left.

READING <--> BLOCKED
READING | BLOCKED --client disconnects--> DETACHED | ABSENT | GONE
READING | BLOCKED --gateway closes the connection--> DETACHED | ABSENT | GONE
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

    __slots__ = ("_blocked_at", "_limits", "client", "cut_off", "deadline")

    def __init__(self, limits: Limits) -> None:
        self.client = READING
        self.deadline = NEVER
        self._limits = limits
        self._blocked_at = NEVER
        self.cut_off: Outcome | None = None
        """Why the gateway closed the client's connection, if it did."""

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

    def mark_followed(self) -> bool:
        """Others follow the turn of a detached client. Returns whether they did not before."""
        was_followed, self.deadline = self.deadline == NEVER, NEVER
        return not was_followed

    def mark_unfollowed(self, now: float) -> None:
        """No others do. The grace time begins anew if they did before."""
        if self.deadline == NEVER:
            self.mark_detached(now)

    def mark_absent(self) -> None:
        self.client = ABSENT
        self.deadline = NEVER

    def mark_gone(self, now: float, cut_off: Outcome | None = None) -> None:
        self.client = GONE
        self.deadline = now + self._limits.queue_wait_s
        self.cut_off = cut_off or self.cut_off

    def outcome(self, verdict: Outcome, *, has_begun: bool) -> Outcome:
        """The outcome of a stream: `verdict`, or how the client left if it did.

        `has_begun`: whether our turn began.
        """
        if not self.has_left:
            return verdict
        return outcome_without_client(self.cut_off, has_begun=has_begun)
