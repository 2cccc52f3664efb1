import pytest

from turnwire_lab.bench import report
from turnwire_lab.bench.contenders import TURNWIRE
from turnwire_lab.bench.goals import MET, MISSED
from turnwire_lab.bench.growth.axes import AXES, LENGTH, MODE, SESSIONS, Axis
from turnwire_lab.bench.growth.goals import GROWTH_GOALS, exponent_row, marginal_row
from turnwire_lab.bench.growth.paper import NOTHING
from turnwire_lab.bench.growth.slopes import by_round, exponent, marginal
from turnwire_lab.bench.growth.slopes_page import table
from turnwire_lab.bench.rounds import Round, Rounds


def measured(axis: Axis, power: float, *, numbers: int = 3, fixed_us: float = 0) -> Rounds:
    """Rounds in which a unit costs its count to a power, and a request something more."""
    return Rounds(
        Round(
            mode=MODE,
            case=axis.case(count),
            contender=TURNWIRE,
            number=number,
            figures={axis.figure: 2 * count**power + fixed_us / count},
        )
        for number in range(numbers)
        for count in axis.counts
    )


@pytest.mark.parametrize("power", [-0.5, 0, 0.5, 1])
def test_an_exponent_is_the_power_of_the_count(power: float) -> None:
    assert exponent({count: 3 * count**power for count in (10, 100, 1_000)}) == pytest.approx(power)


def test_what_is_paid_once_is_in_the_small_counts_only() -> None:
    points = {count: 1 + 100 / count for count in (1, 10, 1_000_000, 10_000_000, 100_000_000)}

    assert exponent(points) == pytest.approx(0, abs=0.001)


@pytest.mark.parametrize("points", [{}, {10: 1.0}, {10: 0.0, 100: 1.0}])
def test_there_is_no_exponent_of_too_little(points: dict[int, float]) -> None:
    assert exponent(points) is None


def test_one_more_adds_what_is_not_paid_once() -> None:
    assert marginal({10: 5 + 100 / 10, 1_000: 5 + 100 / 1_000}) == pytest.approx(5)
    assert marginal({10: 5.0}) is None


def test_a_round_that_lacks_a_point_has_no_slope() -> None:
    """Else its slope would be one of other counts."""
    rounds = measured(LENGTH, 0)
    rounds.add(
        Round(
            mode=MODE,
            case=LENGTH.case(10),
            contender=TURNWIRE,
            number=7,
            figures={LENGTH.figure: 1.0},
        )
    )

    assert list(by_round(LENGTH, rounds)) == [0, 1, 2]


@pytest.mark.parametrize(("power", "verdict"), [(0, MET), (0.3, MISSED)])
@pytest.mark.parametrize("axis", AXES)
def test_a_cost_that_grows_with_the_count_misses_the_goal(
    axis: Axis, power: float, verdict: str
) -> None:
    rows = {row.what: row for row in report.rows(measured(axis, power), GROWTH_GOALS)}

    row = rows[exponent_row(axis)]

    assert (row.goal, row.measured, row.verdict) == ("≤ 0.10", f"{power:.2f}", verdict)
    assert (marginal_row(axis) in rows) is axis.totals


def test_the_page_has_a_line_for_each_axis_that_was_measured() -> None:
    rows = report.rows(measured(LENGTH, 0, fixed_us=100), GROWTH_GOALS)
    page = table(report.Table(machine="a machine", date="2026-01-02", notes=[], rows=rows))

    assert "| deltas of a turn | frame | 12.0 µs at 10 … 2.00 µs at 100,000 |" in page
    assert "| met | 2.00 µs |" in page
    assert SESSIONS.across not in page
    assert page.endswith("2026-01-02, a machine.\n")


def test_without_figures_the_page_says_so() -> None:
    nothing = report.Table(
        machine="a machine", date="2026-01-02", notes=[], rows=report.rows(Rounds(), GROWTH_GOALS)
    )

    assert table(None) == table(nothing) == NOTHING


def test_points_are_geometric() -> None:
    for axis in AXES:
        steps = [more / less for less, more in zip(axis.counts, axis.counts[1:], strict=False)]

        assert 5 <= len(axis.counts) <= 6
        assert max(steps) / min(steps) < 1.1, axis.name
