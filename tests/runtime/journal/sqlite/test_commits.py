"""What the writing thread commits together, and what becomes of it when the file is in trouble."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio

from runtime.journal.sqlite.crowd import all_at_once, blocked
from runtime.journal.stores import claimed, command, row
from turnwire_agent.journal.port import (
    Effect,
    KeyTakenError,
    LeaseLostError,
    UnavailableError,
)
from turnwire_agent.journal.sql.transactions import Query
from turnwire_agent.journal.sqlite import thread
from turnwire_agent.journal.sqlite.journal import SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest_asyncio.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(path, busy_s=0.1)
    await journal.start()
    yield journal
    await journal.aclose()


def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many transactions each commit of the next journal has."""
    counts: list[int] = []
    deliver = thread._deliver

    def counted(jobs: Sequence[thread.Job[Any]]) -> None:
        counts.append(len(jobs))
        deliver(jobs)

    monkeypatch.setattr(thread, "_deliver", counted)
    return counts


async def test_what_waits_is_committed_together_and_who_fails_fails_alone(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leases = [await claimed(journal, f"s{number}") for number in range(5)]
    lost = await claimed(journal, "lost")
    await claimed(journal, "lost")
    taken = Effect("k", "other/1", "hash", "intent")
    await journal.append(leases[0], [], effects=[Effect("k", "s0/1", "hash", "intent")])
    counts = commits(monkeypatch)

    outcomes = await all_at_once(
        path,
        journal.append(leases[0], [row(b"0")]),
        journal.append(lost, [row(b"lost")], settle=True),
        journal.append(leases[1], [row(b"1")], effects=[taken]),
        journal.append(leases[2], [row(b"2")]),
        journal.put("s3", command("c")),
        journal.put("s3", command("c")),
    )

    assert sum(counts) == 6
    assert max(counts) >= 5
    kinds = [type(each) for each in outcomes]
    assert kinds[1:3] == [LeaseLostError, KeyTakenError]
    assert outcomes[4:] == [True, False]
    assert [each.body for each in await journal.read("s0")] == [b"0"]
    assert [each.body for each in await journal.read("s2")] == [b"2"]
    assert await journal.read("s1") == await journal.read("lost") == []


async def test_a_process_that_is_stopped_in_a_write_makes_it_unavailable(
    journal: SqliteJournal, path: Path
) -> None:
    lease = await claimed(journal, "s")
    await journal.append(lease, [row(b"before")])

    with blocked(path):
        outcomes = await asyncio.gather(
            *(journal.append(lease, [row(b"blocked")]) for _ in range(5)),
            return_exceptions=True,
        )
        assert [type(each) for each in outcomes] == [UnavailableError] * 5
        assert "SQLITE_BUSY" in str(outcomes[0])
        assert [each.body for each in await journal.read("s")] == [b"before"]

    await journal.append(lease, [row(b"after")])
    assert [each.body for each in await journal.read("s")] == [b"before", b"after"]


async def test_a_file_that_was_deleted_takes_no_more(journal: SqliteJournal, path: Path) -> None:
    lease = await claimed(journal, "s")
    path.unlink()  # noqa: ASYNC240 (one system call)

    with pytest.raises(UnavailableError, match="deleted or replaced"):
        await journal.append(lease, [row()])
    with pytest.raises(UnavailableError, match="deleted or replaced"):
        await journal.read("s")


@pytest.mark.parametrize("is_link", [False, True])
async def test_a_log_that_was_deleted_takes_no_more(path: Path, *, is_link: bool) -> None:
    """What is committed to it would be lost with the process."""
    link = path.with_name("link.db")
    link.symlink_to(path)
    journal = SqliteJournal(link if is_link else path)
    await journal.start()
    lease = await claimed(journal, "s")
    path.with_name("journal.db-wal").unlink()

    with pytest.raises(UnavailableError, match="-wal was deleted or replaced"):
        await journal.append(lease, [row()])
    await journal.aclose()


async def test_a_full_disk_undoes_all_that_was_to_be_committed(
    journal: SqliteJournal, path: Path
) -> None:
    """The limit of pages is of the connection that writes."""
    one, other = await claimed(journal, "one"), await claimed(journal, "other")
    await journal._writer.submit(partial(limited, 30))

    outcomes = await all_at_once(
        path, journal.append(one, [row(b"1")]), journal.append(other, [row(bytes(1_000_000))])
    )

    assert isinstance(outcomes[1], UnavailableError)
    assert "SQLITE_FULL" in str(outcomes[1])
    await journal._writer.submit(partial(limited, 1_000_000))
    kept = [each.body for each in await journal.read("one")]
    assert kept == ([] if isinstance(outcomes[0], UnavailableError) else [b"1"])
    await journal.append(other, [row(b"2")])
    assert [each.body for each in await journal.read("other")] == [b"2"]


def limited(pages: int) -> Any:
    yield [Query(f"pragma max_page_count = {pages}", {})]


async def test_an_error_of_one_transaction_is_its_own(journal: SqliteJournal, path: Path) -> None:
    lease, other = await claimed(journal, "s"), await claimed(journal, "other")
    text: Any = "no bytes"

    outcomes = await all_at_once(
        path,
        journal.append(lease, [row(b"1"), row(text)]),
        journal.append(lease, [row(1j)]),  # type: ignore[arg-type]
        journal.append(other, [row(b"2")]),
    )

    assert [isinstance(each, UnavailableError) for each in outcomes] == [True, True, False]
    assert await journal.read("s") == []
    assert [each.body for each in await journal.read("other")] == [b"2"]


async def test_too_much_that_waits_is_refused(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread, "WAITING_MAX", 3)
    lease = await claimed(journal, "s")

    outcomes = await all_at_once(path, *(journal.append(lease, [row()]) for _ in range(10)))

    refused = [each for each in outcomes if isinstance(each, UnavailableError)]
    assert 6 <= len(refused) <= 7
    assert {str(each) for each in refused} == {"Too many transactions wait for the journal."}
    assert len(await journal.read("s")) == 10 - len(refused)


async def test_a_commit_has_a_bound(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread, "TOGETHER_MAX", 3)
    lease = await claimed(journal, "s")
    counts = commits(monkeypatch)

    await all_at_once(path, *(journal.append(lease, [row()]) for _ in range(10)))

    assert sum(counts) == 10
    assert max(counts) == 4


async def test_closing_finishes_what_began(journal: SqliteJournal, path: Path) -> None:
    lease = await claimed(journal, "s")
    writing = [asyncio.create_task(journal.append(lease, [row()])) for _ in range(20)]
    await asyncio.sleep(0)

    await journal.aclose()

    assert [appended.head for appended in await asyncio.gather(*writing)] == list(range(1, 21))
    again = SqliteJournal(path)
    await again.start()
    assert len(await again.read("s")) == 20
    await again.aclose()


async def test_a_caller_that_is_cancelled_while_it_starts_leaves_no_thread(path: Path) -> None:
    journal = SqliteJournal(path, busy_s=5)
    with blocked_file(path):
        starting = asyncio.create_task(journal.start())
        await asyncio.sleep(0.05)
        starting.cancel()
        await asyncio.wait([starting])

    await asyncio.to_thread(journal._writer._thread.join, 20)
    assert not journal._writer._thread.is_alive()


def blocked_file(path: Path) -> Any:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("pragma journal_mode = wal")
    database.execute("begin immediate")
    return closing(database)


@pytest.mark.parametrize(("synchronous", "level"), [("full", 2), ("normal", 1)])
async def test_each_setting_of_synchronous_is_set(
    path: Path, synchronous: Literal["full", "normal"], level: int
) -> None:
    journal = SqliteJournal(path, synchronous=synchronous)
    await journal.start()

    assert await journal._writer.submit(partial(asked, "pragma synchronous")) == level
    await journal.aclose()


async def test_a_caller_that_is_gone_is_not_told_of_a_failure(
    journal: SqliteJournal, path: Path
) -> None:
    lost = await claimed(journal, "s")
    await claimed(journal, "s")
    with blocked(path):
        writing = asyncio.create_task(journal.append(lost, [row()]))
        await asyncio.sleep(0)
        writing.cancel()

    assert await journal.read("s") == []
    with pytest.raises(LeaseLostError):
        await journal.append(lost, [row()])


async def test_a_reader_that_cannot_be_opened_ends_the_writer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = SqliteJournal(path)

    def refuse() -> sqlite3.Connection:
        raise UnavailableError("no more files")

    monkeypatch.setattr(journal._reader, "_connect", refuse)
    with pytest.raises(UnavailableError, match="no more files"):
        await journal.start()

    await asyncio.to_thread(journal._writer._thread.join, 20)
    assert not journal._writer._thread.is_alive()


async def test_a_read_that_fails_fails_alone(journal: SqliteJournal) -> None:
    await claimed(journal, "s")

    outcomes = await asyncio.gather(
        journal.read("s", limit=2**64), journal.sessions(), return_exceptions=True
    )

    assert isinstance(outcomes[0], OverflowError)
    assert outcomes[1] == ["s"]


async def test_a_journal_is_opened_and_read_while_somebody_is_stopped_in_a_write(
    journal: SqliteJournal, path: Path
) -> None:
    await claimed(journal, "s")
    with blocked(path):
        another = SqliteJournal(path, busy_s=0.05)
        await another.start()
        assert await another.sessions() == ["s"]
        await another.aclose()


async def test_a_file_that_is_blocked_for_longer_is_unavailable_from_the_start(path: Path) -> None:
    with blocked_file(path), pytest.raises(UnavailableError, match="SQLITE_BUSY"):
        await SqliteJournal(path, busy_s=0.05).start()


async def test_a_file_whose_mode_somebody_else_changes_is_waited_for(path: Path) -> None:
    """SQLite refuses a second one at once, without the time that it was given."""
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("begin exclusive")
        with pytest.raises(UnavailableError, match="SQLITE_BUSY"):
            await SqliteJournal(path, busy_s=0.05).start()
        journal = SqliteJournal(path, busy_s=20)
        starting = asyncio.create_task(journal.start())
        await asyncio.sleep(0.05)
        assert not starting.done()
        other.execute("rollback")
        await starting

    await claimed(journal, "s")
    await journal.aclose()


async def test_a_program_whose_loop_is_closed_does_not_hang(path: Path) -> None:
    """Nobody closed the journal: its threads have nobody to tell."""

    async def leave() -> SqliteJournal:
        journal = SqliteJournal(path)
        await journal.start()
        lease = await claimed(journal, "s")
        waiting = asyncio.create_task(journal.append(lease, [row()]))
        await asyncio.sleep(0)
        waiting.cancel()
        return journal

    journal = await asyncio.to_thread(asyncio.run, leave())
    journal._writer._queue.put(None)
    journal._reader._queue.put(None)
    await asyncio.to_thread(journal._writer._thread.join, 20)

    assert not journal._writer._thread.is_alive()


def asked(statement: str) -> Any:
    (((value,),),) = yield [Query(statement, {})]
    return value
