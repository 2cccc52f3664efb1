"""The table: rows that are kept in a file, and their Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from turnwire_lab.bench.figures import Said
from turnwire_lab.bench.goals import GOALS, Goal
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
    is_headline: bool = False


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
    others = f"{foreign[len(foreign) // 2]:.1%} of a core in the median round"
    kept = f"{len(disturbed)} stayed disturbed, {len(void)} were void"
    notes = [f"{len(rounds)} rounds; others took {others}, {foreign[-1]:.0%} in the worst; {kept}."]
    if 2 * len(disturbed) > len(rounds):
        notes.insert(0, BUSY)
    notes += [f"Void: {each.mode} {each.case}, {each.contender}: {each.void}" for each in void[:5]]
    notes += [f"Not there: {name}, since {why}." for name, why in absent.items()]
    return notes


def markdown(table: Table | None, *, only_headlines: bool = False) -> str:
    """The table as it stands on a page; without one, a line that says so."""
    if table is None:
        return NOTHING
    lines = [
        ("Figure", "Goal", "Measured", "Rounds from … to", ""),
        ("---", "---:", "---:", "---:", "---"),
        *(
            (row.what, row.goal, row.measured, row.spread, row.verdict)
            for row in table.rows
            if row.measured and (row.is_headline or not only_headlines)
        ),
    ]
    body = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    notes = "" if only_headlines else "".join(f"- {note}\n" for note in table.notes)
    return f"{body}\n{table.date}, {table.machine}.\n" + (f"\n{notes}" if notes else "")


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


def _row(goal: Goal, said: Said | None) -> Row:
    measured = spread = ""
    if said is not None:
        measured = said.why_not or _shown(said.value, goal.unit)
        spread = f"{_number(said.low)} … {_number(said.high)} ({said.rounds})"
    return Row(
        goal.what, _goal(goal), measured, spread, goal.verdict(said), is_headline=goal.is_headline
    )


def _goal(goal: Goal) -> str:
    if goal.at_least is not None:
        return f"≥ {_shown(goal.at_least, goal.unit)}"
    if goal.at_most is not None:
        return f"≤ {_shown(goal.at_most, goal.unit)}"
    return ""


def _shown(value: float, unit: str) -> str:
    return f"{_number(value)}{'' if unit in {'x', '/s'} else ' '}{unit}"


def _number(value: float) -> str:
    if abs(value) < _ROUND_BELOW:
        return f"{value:.2f}"
    return f"{value:.1f}" if abs(value) < _EXACT_BELOW else f"{value:,.0f}"
