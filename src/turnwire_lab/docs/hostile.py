"""The table of hostile neighbours: what others notice of them. `make hostile` measures it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

NOTHING: Final = "No figures yet: `make hostile` measures them.\n"


class Row(Struct, frozen=True, kw_only=True):
    who: str
    attack: str
    wire: str
    added_p99_ms: float
    first_byte_ms: float
    growth_mib: float
    lasted_s: float | None
    broken: Sequence[str]
    """What was promised and is not so."""


class Table(Struct, frozen=True, kw_only=True):
    """What is published of a run."""

    machine: str
    date: str
    quiet: Mapping[str, float]
    """For each wire, the 99th percentile of a delta's latency without an attack, in ms."""
    waited_cores: float
    """What others on the machine took from the gateway, in the median row."""
    rows: Sequence[Row]


def markdown(table: Table | None) -> str:
    """The table in Markdown; for None, a line that there are no figures."""
    if table is None:
        return NOTHING
    lines = [
        ("Who", "Says or does", "Wire", "Deltas later", "Answers", "Memory", "Lasts", ""),
        ("---", "---", "---", "---:", "---:", "---:", "---:", "---"),
        *(_cells(row) for row in table.rows),
    ]
    quiet = ", ".join(f"{ms:g} ms with {wire}" for wire, ms in table.quiet.items())
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + (
        f"\n{table.date}, {table.machine}. Without an attack, 99 of 100 deltas took at most"
        f" {quiet}. In the median row, other programs on the machine took"
        f" {table.waited_cores:g} of a core from the gateway.\n"
    )


def renewed(old: Table | None, new: Table) -> Table:
    """A table whose rows were measured anew, as far as they were."""
    if old is None:
        return new
    rows = {(row.who, row.wire, row.attack): row for row in (*old.rows, *new.rows)}
    quiet = {**old.quiet, **new.quiet}
    return msgspec.structs.replace(new, rows=list(rows.values()), quiet=quiet)


def read(path: Path) -> Table | None:
    return msgspec.json.decode(path.read_bytes(), type=Table) if path.exists() else None


def write(path: Path, table: Table) -> None:
    """Readable, so that its diff is."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(table), indent=1) + b"\n")


def _cells(row: Row) -> Sequence[str]:
    lasted = "" if row.lasted_s is None else f"{row.lasted_s:.1f} s"
    return (
        row.who,
        row.attack,
        f"`{row.wire}`",
        f"{row.added_p99_ms:.1f} ms",
        f"{row.first_byte_ms:.0f} ms",
        f"{row.growth_mib:.0f} MiB",
        lasted,
        ", ".join(row.broken) or "ok",
    )
