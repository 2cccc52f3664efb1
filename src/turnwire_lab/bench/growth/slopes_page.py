"""The table of slopes, from the table of a run."""

from collections.abc import Mapping, Sequence

from turnwire_lab.bench.growth.axes import AXES, Axis
from turnwire_lab.bench.growth.goals import exponent_row, marginal_row, point_row
from turnwire_lab.bench.growth.paper import NOTHING
from turnwire_lab.bench.report import Row, Table, lines, taken


def table(measured: Table | None) -> str:
    """A row for each axis that has a slope."""
    by_name = {row.what: row for row in measured.rows if row.measured} if measured else {}
    axes = [axis for axis in AXES if exponent_row(axis) in by_name]
    if measured is None or not axes:
        return NOTHING
    body = lines(
        ("Against", "A unit", "From … to", "Exponent", "Rounds from … to", "", "One more"),
        ("---", "---", "---:", "---:", "---:", "---", "---:"),
        *(_line(axis, by_name) for axis in axes),
    )
    return f"{body}\n{taken(measured)}"


def _line(axis: Axis, by_name: Mapping[str, Row]) -> Sequence[str]:
    steep, more = by_name[exponent_row(axis)], by_name.get(marginal_row(axis))
    counts = [count for count in axis.counts if point_row(axis, count) in by_name]
    least, most = (
        f"{by_name[point_row(axis, count)].measured} at {count:,}"
        for count in (counts[0], counts[-1])
    )
    one_more = more.measured if more else ""
    return (
        axis.across,
        axis.unit,
        f"{least} … {most}",
        steep.measured,
        steep.spread,
        steep.verdict,
        one_more,
    )
