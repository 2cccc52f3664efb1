"""The matrix: `python -m hostile.run [WORD...]`, only rows with such a word in them.

It prints what it measures, and writes it where `--publish` says.
"""

import argparse
import asyncio
import datetime as dt
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hostile import agents_bytes, agents_init, agents_session_agent, agents_v2, clients
from hostile.attack import BOTH, Attack
from hostile.measured import HEAD, Limits, Measured, broken, line, quiet_of
from hostile.rig import Effort, Rig
from turnwire_lab.bench import machine
from turnwire_lab.bench.tools import NotBuiltError, tools
from turnwire_lab.docs.hostile import Row, Table, read, renewed, write

ROWS: Final[Sequence[Attack]] = (
    *agents_init.ROWS,
    *agents_bytes.ROWS,
    *agents_v2.ROWS,
    *agents_session_agent.ROWS,
    *clients.ROWS,
)

DISTURBED: Final = 0.1
"""Cores that others took from the gateway, from which a row that breaks is measured again."""
TRIES: Final = 2


def main() -> int:
    """0: all that was promised is so."""
    parser = argparse.ArgumentParser(prog="make hostile", description=__doc__)
    parser.add_argument("words", nargs="*", help="only rows with one of them")
    parser.add_argument("--list", action="store_true", help="print the rows' names")
    parser.add_argument("--nice", type=int, default=0, help="below 0 for a machine with company")
    parser.add_argument(
        "--publish", type=Path, metavar="FILE", help="write the table there; of some rows, those"
    )
    asked = parser.parse_args()
    rows = [row for row in ROWS if not asked.words or any(w in _words(row) for w in asked.words)]
    if asked.list:
        _tell("\n".join(map(_words, rows)))
        return 0
    try:
        load_tools = tools()
    except NotBuiltError as error:
        _tell(f"hostile: {error}")
        return 2
    with tempfile.TemporaryDirectory(prefix="turnwire-hostile-") as folder:
        rig = Rig(load_tools, Path(folder), Effort(), nice=asked.nice)
        measured = asyncio.run(_measure(rig, rows))
    table = _table(measured)
    if asked.publish:
        # Rows that are no more go when all are measured.
        old = read(asked.publish) if asked.words else None
        write(asked.publish, renewed(old, table))
    bad = [row for row in table.rows if row.broken]
    _tell(f"{len(bad)} of {len(table.rows)} rows are broken")
    return 1 if bad else 0


def named(name: str) -> Attack:
    """The row of that name, as `--list` says it.

    Raises:
        StopIteration: there is none.

    """
    return next(row for row in ROWS if _words(row) == name)


async def _measure(running: Rig, rows: Sequence[Attack]) -> Sequence[Measured]:
    """Each row, and the wires without an attack before and after."""
    _tell(HEAD)
    found: list[Measured] = []
    limits = Limits()
    wires = [wire for wire in BOTH if any(row.wire == wire for row in rows)]
    async with running as rig:
        for attack in (None, *rows, None):
            for wire in wires if attack is None else (attack.wire,):
                row = await rig.measure(attack, wire)
                for _ in range(TRIES - 1):
                    quiet = quiet_of([*found, row])[wire]
                    if row.waited_cores < DISTURBED or not broken(row, quiet, limits):
                        break
                    row = min(row, await rig.measure(attack, wire), key=_lateness)
                found.append(row)
                _tell(line(row, quiet_of(found)[wire], limits))
    return found


def _lateness(row: Measured) -> tuple[int, float]:
    return row.not_whole + row.refused, row.p99


def _table(measured: Sequence[Measured]) -> Table:
    quiet = quiet_of(measured)
    waited = sorted(row.waited_cores for row in measured)
    rows = [
        Row(
            who=row.who,
            attack=row.name,
            wire=row.wire,
            added_p99_ms=round(max(0.0, row.p99 - quiet[row.wire].p99), 1),
            first_byte_ms=round(row.first_byte, 1),
            growth_mib=round(row.growth_mib, 1),
            lasted_s=None if row.ended_s is None else round(row.ended_s, 1),
            broken=list(broken(row, quiet[row.wire], Limits())),
        )
        for row in measured
        if row.who != "nobody"
    ]
    return Table(
        machine=f"{machine.model()}, {os.cpu_count()} cores",
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        quiet={wire: round(row.p99, 2) for wire, row in quiet.items()},
        waited_cores=round(waited[len(waited) // 2], 2),
        rows=rows,
    )


def _words(row: Attack) -> str:
    who = "client" if row in clients.ROWS else "agent"
    return f"{who} {row.wire} {row.name}"


def _tell(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
