"""What a sample says of all changes."""

import math
from typing import Final, NamedTuple

_Z: Final = 1.959964
"""Of 95 % of a normal distribution."""


class Interval(NamedTuple):
    """Shares, between 0 and 1."""

    low: float
    high: float


def wilson(noticed: int, tried: int) -> Interval:
    """Where the share of all lies, with 95 % confidence (Wilson's score interval)."""
    if not tried:
        return Interval(0, 1)
    share, square = noticed / tried, _Z**2
    middle = share + square / (2 * tried)
    width = _Z * math.sqrt(share * (1 - share) / tried + square / (4 * tried**2))
    whole = 1 + square / tried
    return Interval(max(0.0, (middle - width) / whole), min(1.0, (middle + width) / whole))


def in_words(noticed: int, tried: int) -> str:
    low, high = wilson(noticed, tried)
    share = noticed / tried if tried else 0
    return f"{noticed} of {tried} noticed: {share:.1%} (95 % interval {low:.1%} to {high:.1%})"
