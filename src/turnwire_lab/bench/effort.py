"""How much is measured."""

import time
from collections.abc import Sequence
from typing import Final

from msgspec import Struct


class Effort(Struct, frozen=True, kw_only=True):
    rounds: int = 5
    seconds: float = 0.8
    """Length of one round of a burst; others follow from it."""
    is_quick: bool = False
    """Only what a first look needs."""
    minutes: float = 11.0
    """After which no round is repeated because others disturbed it."""
    most_streams: int = 10_000
    streams_of_memory: int = 1_000
    requests_of_growth: int = 2_000
    slow_deltas: int = 400_000
    slow_s: float = 3.0
    """How long a client that hardly reads is watched."""

    def until(self) -> float:
        """The end of patience, on the monotonic clock."""
        return time.monotonic() + 60 * self.minutes

    def lengths(self) -> Sequence[int]:
        """Deltas of a turn. The goal compares the 10,000 with the 400,000."""
        longest = int(1_250_000 * self.seconds)
        return [n for n in (10, 100, 1_000, 10_000, 100_000, 400_000, 1_000_000) if n <= longest]

    def crowds(self) -> Sequence[int]:
        """Streams that share one rate."""
        return [n for n in (1, 10, 100, 1_000, 9_500) if n <= self.most_streams]

    def crowds_of_workers(self) -> Sequence[int]:
        """The same for two processes: one alone has not the descriptors for the largest."""
        return [n for n in (10, 100, 1_000, 10_000) if n <= self.most_streams]


QUICK: Final = Effort(rounds=3, seconds=0.3, is_quick=True, minutes=1.2)
