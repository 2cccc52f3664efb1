"""Whether a client is still there, and still reads: judged by what the kernel knows of it."""

from enum import Enum, auto
from typing import Final

from turnwire.relay.tcp import PeerState

_CHECKS_PER_STALL: Final = 4
"""How often a client is checked in the time within which it has to read something."""

_CLOCK_ERROR_S: Final = 0.05
"""Largest difference between times of the kernel's clock and of ours."""


class Loss(Enum):
    """Why a client is cut."""

    STALLED = auto()
    """It is there, and reads nothing."""
    VANISHED = auto()
    """It does not answer any more."""


class ClientWatch:
    """The checks of one connection. Times are seconds on the loop's clock.

    Call `is_due`, and if it is true, `check` with what the kernel says.
    """

    __slots__ = ("_acked_bytes", "_check_at", "_progress_at")

    def __init__(self) -> None:
        self._check_at = self._progress_at = 0.0
        """Time of the next check. The last time at which the client had acknowledged something
        new, or had nothing to acknowledge."""
        self._acked_bytes = 0

    def is_due(self, now: float) -> bool:
        """Whether the client may be lost by now, so that it is worth asking the kernel."""
        return now >= self._check_at

    def check(self, peer: PeerState | None, now: float, stall_s: float) -> Loss | None:
        """Return why the client is lost: it vanished, or acknowledged nothing for `stall_s`.

        `peer` is None if the kernel does not provide its state.
        """
        if peer is None:
            self._check_at = now + stall_s
            return None
        if not peer.has_unacked or peer.acked_bytes != self._acked_bytes:
            self._acked_bytes, self._progress_at = peer.acked_bytes, now
        self._check_at = now + min(peer.vanishes_in_s, stall_s / _CHECKS_PER_STALL)
        idle_s = now - self._progress_at
        is_stalled = idle_s >= stall_s
        if not is_stalled and peer.vanishes_in_s >= 0:
            return None
        # A client that does not read answers each probe of its closed window; one that vanished
        # does not. The time between probes grows, so there may have been none.
        has_answered = not peer.is_probed or peer.silent_s < idle_s - _CLOCK_ERROR_S
        return Loss.STALLED if is_stalled and has_answered else Loss.VANISHED
