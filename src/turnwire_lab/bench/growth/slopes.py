"""How steep a cost is: its exponent, and what one more unit adds."""

import math
from collections.abc import Mapping
from statistics import linear_regression
from typing import Final

from turnwire_lab.bench.contenders import TURNWIRE
from turnwire_lab.bench.figures import Figure, figure
from turnwire_lab.bench.growth.axes import MODE, Axis
from turnwire_lab.bench.rounds import Rounds

LARGEST: Final = 3
"""Points that the exponent is of: the largest, where what a request costs anyway is paid off."""
LEAST_POINTS: Final = 2


def exponent(points: Mapping[int, float]) -> float | None:
    """The slope of cost per unit over counts, both as logarithms, at the largest counts.

    0: a unit costs the same however many there are. 1: twice as much among twice as many. None:
    there are not enough points, or one costs nothing.
    """
    largest = sorted(points)[-LARGEST:]
    if len(largest) < LEAST_POINTS or any(points[count] <= 0 for count in largest):
        return None
    logs = [(math.log(count), math.log(points[count])) for count in largest]
    return linear_regression([x for x, _ in logs], [y for _, y in logs]).slope


def marginal(points: Mapping[int, float]) -> float | None:
    """What one unit more adds to a request of units, from the smallest to the largest, in µs."""
    if len(points) < LEAST_POINTS:
        return None
    least, most = min(points), max(points)
    return (most * points[most] - least * points[least]) / (most - least)


def by_round(axis: Axis, rounds: Rounds) -> Mapping[int, Mapping[int, float]]:
    """The points of each round: cost per unit by count. Rounds that lack a point are left out."""
    values = {
        count: rounds.values(MODE, axis.case(count), TURNWIRE, axis.figure) for count in axis.counts
    }
    seen = {count: costs for count, costs in values.items() if costs}
    numbers = set.intersection(*(set(costs) for costs in seen.values())) if seen else set()
    return {
        number: {count: costs[number] for count, costs in seen.items()}
        for number in sorted(numbers)
    }


def exponent_of(axis: Axis, rounds: Rounds) -> Figure | None:
    """Of each round, as a figure."""
    slopes = [exponent(points) for points in by_round(axis, rounds).values()]
    return figure([slope for slope in slopes if slope is not None])


def marginal_of(axis: Axis, rounds: Rounds) -> Figure | None:
    """Of each round, as a figure."""
    added = [marginal(points) for points in by_round(axis, rounds).values()]
    return figure([each for each in added if each is not None])
