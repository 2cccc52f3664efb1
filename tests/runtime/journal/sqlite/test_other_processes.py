"""Other processes open the file and close it again, as a list of sessions or a backup does."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from runtime.journal.stores import claimed, row
from turnwire_agent.journal.sqlite.journal import SqliteJournal

JOURNAL = """
import asyncio, sys
from pathlib import Path
from turnwire_agent.journal.sqlite.journal import SqliteJournal

async def main():
    journal = SqliteJournal(Path(sys.argv[1]))
    await journal.start()
    await journal.sessions()
    await journal.aclose()

asyncio.run(main())
"""
BACKUP = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database, sqlite3.connect(sys.argv[1] + ".copy") as copy:
    database.backup(copy)
copy.close()
database.close()
"""


def program(text: str) -> Callable[[Path], None]:
    def run(path: Path) -> None:
        subprocess.run([sys.executable, "-c", text, str(path)], check=True)

    return run


@pytest.mark.parametrize("other", [program(JOURNAL), program(BACKUP)], ids=["journal", "backup"])
async def test_they_leave_the_log_to_who_still_writes(
    other: Callable[[Path], None], tmp_path: Path
) -> None:
    path = tmp_path / "journal.db"
    journal = SqliteJournal(path)
    await journal.start()
    lease = await claimed(journal, "s")
    await journal.append(lease, [row(b"before")])
    log = path.with_name("journal.db-wal").stat().st_ino

    other(path)

    assert path.with_name("journal.db-wal").stat().st_ino == log
    await journal.append(lease, [row(b"after")])
    # A reader that finds no log has what a process would find after SIGKILL of this one.
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as found:
        bodies = found.execute("select body from journal_row order by seq").fetchall()
    assert [body for (body,) in bodies] == [b"before", b"after"]
    await journal.aclose()
