"""The rows of the table: slopes, points, and the prices of the model."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from turnwire_lab.bench.contenders import AG_UI_REDIS, TURNWIRE
from turnwire_lab.bench.figures import Figure, figure
from turnwire_lab.bench.goals import Goal
from turnwire_lab.bench.growth.axes import AXES, MODE, Axis
from turnwire_lab.bench.growth.parts import LOGGED, PARTS
from turnwire_lab.bench.growth.slopes import exponent_of, marginal_of
from turnwire_lab.bench.rounds import Rounds

STEEP: Final = 0.1
"""Ten times as many may make a unit a quarter dearer."""


def exponent_row(axis: Axis) -> str:
    """The name of the row."""
    return f"CPU/{axis.unit} against {axis.across}: exponent"


def marginal_row(axis: Axis) -> str:
    """The same, for what one unit adds."""
    return f"CPU of one {axis.unit} more, {axis.name}"


def point_row(axis: Axis, count: int) -> str:
    """The same, for a point."""
    return f"CPU/{axis.unit}, {count:,} {axis.across}"


def _value(case: str, contender: str, name: str, rounds: Rounds) -> Figure | None:
    return figure(list(rounds.values(MODE, case, contender, name).values()))


def _goals() -> Iterator[Goal]:
    for axis in AXES:
        yield Goal(exponent_row(axis), partial(exponent_of, axis), unit="", at_most=STEEP)
        if axis.totals:
            yield Goal(marginal_row(axis), partial(marginal_of, axis), "µs")
        for count in axis.counts:
            point = partial(_value, axis.case(count), TURNWIRE, axis.figure)
            yield Goal(point_row(axis, count), point, "µs")
    for part in PARTS:
        contender = AG_UI_REDIS if part.load == LOGGED else TURNWIRE
        for count in sorted({part.price_at, *part.checked_at}):
            point = partial(_value, part.case(count), contender, part.figure)
            yield Goal(part.row(count), point, part.unit)


GROWTH_GOALS: Final[Sequence[Goal]] = tuple(_goals())
