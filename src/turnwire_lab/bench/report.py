"""The table: rows that are kept in a file, and their Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from turnwire_lab.bench.figures import Figure
from turnwire_lab.bench.goals import (
    GOALS,
    PRICE_OF_FRAME,
    PRICE_OF_STREAM,
    PRICE_OF_TURN,
    Goal,
)
from turnwire_lab.bench.rounds import Rounds

FILE: Final = "table.json"
NOTHING: Final = "No figures yet: `make bench` measures them.\n"
BUSY: Final = "**The machine was busy: most rounds stayed disturbed. Nothing here is a figure.**"
_ROUND_BELOW: Final = 10
_EXACT_BELOW: Final = 100


class Row(Struct, frozen=True):
    what: str
    goal: str
    measured: str
    spread: str
    verdict: str


class Table(Struct, frozen=True):
    """What is published of a run."""

    machine: str
    date: str
    notes: Sequence[str]
    rows: Sequence[Row]
    pictures: Sequence[str] = ()
    """File names and what they show, in turn separated by a colon."""


def rows(rounds: Rounds, goals: Iterable[Goal] = GOALS) -> Sequence[Row]:
    """A row for each goal."""
    return [_row(goal, goal.measure(rounds)) for goal in goals]


def noise(rounds: Rounds, absent: Mapping[str, str]) -> Sequence[str]:
    """What a reader of the table should know of this run."""
    void = [each for each in rounds if each.void]
    disturbed = [each for each in rounds if each.disturbed and not each.void]
    foreign = sorted(each.foreign for each in rounds) or [0.0]
    foreign_share = f"{foreign[len(foreign) // 2]:.1%} of a core in the median round"
    worst = f"{foreign[-1]:.0%} in the worst"
    kept = f"{len(disturbed)} stayed disturbed, {len(void)} were void"
    notes = [f"{len(rounds)} rounds; others took {foreign_share}, {worst}; {kept}."]
    if 2 * len(disturbed) > len(rounds):
        notes.insert(0, BUSY)
    notes += [f"Void: {each.mode} {each.case}, {each.contender}: {each.void}" for each in void[:5]]
    notes += [f"Not there: {name}, since {why}." for name, why in absent.items()]
    return notes


def markdown(table: Table | None, nothing: str = NOTHING) -> str:
    """The table in Markdown; for None, a line that there are no figures."""
    if table is None:
        return nothing
    body = lines(
        ("Figure", "Goal", "Measured", "Rounds from … to", ""),
        ("---", "---:", "---:", "---:", "---"),
        *(
            (row.what, row.goal, row.measured, row.spread, row.verdict)
            for row in table.rows
            if row.measured
        ),
    )
    notes = "".join(f"- {note}\n" for note in table.notes)
    return f"{body}\n{taken(table)}" + (f"\n{notes}" if notes else "")


def headlines(table: Table | None, figures: Mapping[str, str]) -> str:
    """A line for each of these figures, which are named as in the table, in other words."""
    by_name = {row.what: row for row in table.rows} if table else {}
    shown = [(words, by_name[what]) for what, words in figures.items() if what in by_name]
    if table is None or not shown:
        return NOTHING
    body = "".join(
        f"- {words}: {row.measured} (goal {row.goal}; rounds {row.spread})\n"
        for words, row in shown
    )
    return f"{body}\n{taken(table)}"


def prices(table: Table | None) -> str:
    """What a frame, a turn and an open stream cost, and what follows from it."""
    if table is None:
        return NOTHING
    by_name = {row.what: row for row in table.rows}
    missing = [
        what for what in (PRICE_OF_FRAME, PRICE_OF_TURN, PRICE_OF_STREAM) if what not in by_name
    ]
    if missing:
        return NOTHING
    prices = (PRICE_OF_FRAME, PRICE_OF_TURN, PRICE_OF_STREAM)
    frame, turn, stream = (by_name[what] for what in prices)
    frame_us, turn_us = (float(row.measured.split()[0].replace(",", "")) for row in (frame, turn))
    core = 200 * 50 * frame_us / 1e6, 20 * turn_us / 1e6
    body = lines(
        ("Price", "Measured", "Rounds from … to"),
        ("---", "---:", "---:"),
        ("a frame", frame.measured, frame.spread),
        ("a turn of five deltas", turn.measured, turn.spread),
        ("1,000 open streams", stream.measured, stream.spread),
    )
    return (
        f"{body}\n{taken(table)}\nSo 200 streams of 50 deltas a second take"
        f" 200 * 50 * {frame_us:g} µs = {core[0]:.2f} of such a core, and 20 new turns a second"
        f" 20 * {turn_us:g} µs = {core[1]:.2f} more.\n"
    )


def number(row: Row | None) -> float | None:
    """What was measured, without its unit. None: it was not, or is inconclusive."""
    if row is None:
        return None
    try:
        return float(row.measured.split()[0].removesuffix("/s").replace(",", ""))
    except (IndexError, ValueError):
        return None


def lines(*lines: Sequence[str]) -> str:
    """A table in Markdown: the heads, their alignment, the rows."""
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def taken(table: Table) -> str:
    """When and where it was measured."""
    return f"{table.date}, {table.machine}.\n"


def pictures(table: Table | None, folder: str, only: int | None = None) -> str:
    """The plots as images, for a page from which they lie in `folder`. Empty: there are none."""
    if table is None:
        return ""
    shown = [each.split(":", 1) for each in table.pictures[:only]]
    return "\n".join(f"![{words}]({folder}/{name})\n" for name, words in shown)


def read(folder: Path) -> Table | None:
    """What was published there."""
    path = folder / FILE
    return msgspec.json.decode(path.read_bytes(), type=Table) if path.exists() else None


def write(folder: Path, table: Table) -> None:
    """Readable, so that its diff is."""
    text = msgspec.json.format(msgspec.json.encode(table), indent=1)
    (folder / FILE).write_bytes(text + b"\n")


def _row(goal: Goal, figure: Figure | None) -> Row:
    measured = spread = ""
    if figure is not None:
        measured = figure.why_not or _shown(figure.value, goal.unit)
        spread = f"{_number(figure.low)} … {_number(figure.high)} ({figure.rounds})"
    return Row(goal.what, _goal(goal), measured, spread, goal.verdict(figure))


def _goal(goal: Goal) -> str:
    if goal.at_least is not None:
        return f"≥ {_shown(goal.at_least, goal.unit)}"
    if goal.at_most is not None:
        return f"≤ {_shown(goal.at_most, goal.unit)}"
    if goal.same_within is not None:
        return "unchanged"
    return ""


def _shown(value: float, unit: str) -> str:
    return f"{_number(value)}{'' if unit in {'', 'x', '/s'} else ' '}{unit}"


def _number(value: float) -> str:
    if abs(value) < _ROUND_BELOW:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < _EXACT_BELOW else f"{value:,.0f}"
