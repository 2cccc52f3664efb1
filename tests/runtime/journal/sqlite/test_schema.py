"""The tables of the file: made once, by whoever is first, and left alone if they are of others."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import pytest_asyncio

from runtime.journal.stores import claimed, row
from turnwire_agent.journal.port import Journal, NewerSchemaError, UnavailableError
from turnwire_agent.journal.sql import statements
from turnwire_agent.journal.sqlite import schema
from turnwire_agent.journal.sqlite.journal import SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest_asyncio.fixture
async def journal(path: Path) -> AsyncIterator[Journal]:
    journal = SqliteJournal(path)
    await journal.start()
    yield journal
    await journal.aclose()


async def test_the_file_is_its_owners_alone(journal: Journal, path: Path) -> None:
    await journal.append(await claimed(journal, "s"), [row()])

    assert {each.stat().st_mode & 0o777 for each in path.parent.iterdir()} == {0o600}


async def test_a_file_of_a_newer_program_is_not_touched(path: Path) -> None:
    first = SqliteJournal(path)
    await first.start()
    await first.aclose()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"pragma user_version = {schema.VERSION + 1}")

    with pytest.raises(NewerSchemaError, match="version 2"):
        await SqliteJournal(path).start()


async def test_a_newer_program_that_comes_later_is_noticed(journal: Journal, path: Path) -> None:
    lease = await claimed(journal, "s")
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"pragma user_version = {schema.VERSION + 1}")

    with pytest.raises(NewerSchemaError, match="version 2"):
        await journal.append(lease, [row()])
    with pytest.raises(NewerSchemaError, match="version 2"):
        await journal.read("s")


async def test_a_file_of_another_program_is_not_touched(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table orders (id integer)")

    with pytest.raises(UnavailableError, match="another program"):
        await SqliteJournal(path).start()

    with closing(sqlite3.connect(path)) as database:
        names = database.execute("select name from sqlite_schema").fetchall()
    assert names == [("orders",)]


async def test_what_is_no_database_is_refused(path: Path) -> None:
    text = b"no database, but as long as the head of one" * 100
    path.write_bytes(text)  # noqa: ASYNC240 (one system call)

    with pytest.raises(UnavailableError, match="NOTADB"):
        await SqliteJournal(path).start()


async def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "missing" / "journal.db")

    with pytest.raises(UnavailableError, match="No such file"):
        await journal.start()
    with pytest.raises(UnavailableError, match="closed"):
        await journal.read("s")
    await journal.aclose()


def test_who_is_slower_finds_the_tables_made(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looked before the other one had the lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        schema.make(database)
        looked = iter([True, False])
        monkeypatch.setattr(schema, "_empty", lambda _: next(looked))

        schema.make(database)

        assert next(looked, None) is None
        assert not database.in_transaction


@pytest.mark.parametrize(
    ("statement", "way"),
    [
        (statements.READ, "INDEX journal_row_kept (session=? AND seq>?)"),
        (statements.READ, "INDEX sqlite_autoindex_journal_row_1 (session=? AND seq>?)"),
        (statements.WAITING, "INDEX journal_command_waiting (session=? AND number>?)"),
        (statements.COMMANDS, "INDEX journal_command_waiting (session=?)"),
        (statements.RELEASE, "INDEX journal_command_waiting (session=? AND number>?)"),
        (statements.FORGET, "INDEX journal_command_taken (session=? AND number<?)"),
        (statements.RENEW, "INDEX journal_session_owner (owner=?)"),
        (statements.DUE, "INDEX journal_session_due (due_at<?)"),
        (statements.SESSIONS, "PRIMARY KEY (id>?)"),
    ],
)
def test_no_statement_looks_at_what_it_does_not_need(statement: str, way: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as database:
        schema.make(database)
        names = (
            "session",
            "after",
            "details",
            "limit",
            "number",
            "wake_at",
            "now",
            "owner",
            "lease_s",
        )
        plan = database.execute(f"explain query plan {statement}", dict.fromkeys(names, 1))

        steps = [detail for _, _, _, detail in plan]
    assert any(way in step for step in steps), steps
    assert not any(step.startswith("SCAN") or "TEMP B-TREE" in step for step in steps)
