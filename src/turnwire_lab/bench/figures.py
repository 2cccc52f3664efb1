"""Figures from rounds: a median and how far the rounds lie apart; none where that is too far.

A ratio is one of each round, since both sides of a round met the same
machine; the median of these is what is said. How far they disagree is the
middle half of them, as a logarithm. It may be 10 %, or half of the ratio's
distance from 1: a factor of four is worth saying where a tenth more or less is
not known, one of 1.05 is not.
"""

import math
import random
import statistics
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

LEAST_ROUNDS: Final = 3
APART: Final = math.log(1.1)
"""How far the middle half may always lie apart."""
WORTH: Final = 0.5
"""And as part of the ratio's distance from 1."""
_DRAWS: Final = 2_000


class Figure(Struct, frozen=True):
    """A figure. `why_not`: why it may not be published; the numbers are what was measured."""

    value: float
    low: float
    high: float
    """Of all rounds."""
    lower: float
    upper: float
    """Of the middle half of them."""
    rounds: int
    why_not: str | None = None


def figure(values: Sequence[float]) -> Figure | None:
    """The median of some rounds. None: there are none."""
    if not values:
        return None
    lower, median, upper = _quartiles(values)
    return Figure(median, min(values), max(values), lower, upper, len(values))


def ratio(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Figure | None:
    """How many times as much, by the rounds that both have. None: there are none."""
    values = list(_ratios(ours, theirs).values())
    if not values or min(values) <= 0:
        return None
    lower, median, upper = _quartiles(values)
    why_not = None
    if len(values) < LEAST_ROUNDS:
        why_not = f"{len(values)} of {LEAST_ROUNDS} rounds"
    elif math.log(upper / lower) > max(APART, WORTH * abs(math.log(median))):
        why_not = "its rounds disagree"
    return Figure(median, min(values), max(values), lower, upper, len(values), why_not)


def ratio_of_many(
    ours: Mapping[int, float], theirs: Mapping[int, float], rounds_a_start: int
) -> Figure | None:
    """As `ratio`, for many rounds that differ. None: there are none.

    Two starts of one program differ as two programs may. So both are started anew every
    `rounds_a_start` rounds, and the rounds of a start count together. Between `lower` and `upper`
    is the interval of 95 % of the median: so far apart are the medians of starts that are drawn
    again and again from these (a bootstrap). `low` and `high` repeat it.
    """
    median = ratio(ours, theirs)
    if median is None:
        return None
    starts: dict[int, list[float]] = {}
    for number, value in _ratios(ours, theirs).items():
        starts.setdefault(number // rounds_a_start, []).append(value)
    dice, each = random.Random(0), list(starts.values())
    medians = sorted(
        statistics.median(chain.from_iterable(dice.choices(each, k=len(each))))
        for _ in range(_DRAWS)
    )
    lower, upper = medians[round(0.025 * _DRAWS)], medians[round(0.975 * _DRAWS) - 1]
    too_few = len(each) < LEAST_ROUNDS
    why_not = f"{len(each)} of {LEAST_ROUNDS} starts" if too_few else None
    return Figure(median.value, lower, upper, lower, upper, median.rounds, why_not)


def difference(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Mapping[int, float]:
    """What is added to theirs, round by round."""
    return {number: ours[number] - theirs[number] for number in ours.keys() & theirs.keys()}


def _ratios(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Mapping[int, float]:
    both = sorted(number for number in ours.keys() & theirs.keys() if theirs[number] > 0)
    return {number: ours[number] / theirs[number] for number in both}


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    if len(values) == 1:
        return values[0], values[0], values[0]
    lower, median, upper = statistics.quantiles(values, n=4, method="inclusive")
    return lower, median, upper
