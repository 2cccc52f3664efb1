"""Transactions that are committed together: who is undone, and when the next ones begin."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from runtime.journal.sqlite.crowd import all_at_once
from runtime.journal.stores import claimed, row
from turnwire_agent.journal.port import Effect, KeyTakenError, Lease, LeaseLostError
from turnwire_agent.journal.sql import transactions
from turnwire_agent.journal.sqlite import work
from turnwire_agent.journal.sqlite.journal import SqliteJournal


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest_asyncio.fixture
async def journal(path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(path, busy_s=20)
    await journal.start()
    yield journal
    await journal.aclose()


async def test_who_fails_before_it_has_changed_anything_undoes_nobody(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a session that was lost would cost all others a second run."""
    lease, lost = await claimed(journal, "s"), await claimed(journal, "lost")
    await claimed(journal, "lost")
    begun: list[str] = []
    append = transactions.append

    def counted(lease: Lease, *given: Any, **more: Any) -> Any:
        begun.append(lease.session)
        return append(lease, *given, **more)

    monkeypatch.setattr(transactions, "append", counted)
    outcomes = await all_at_once(
        path,
        journal.append(lease, [row(b"1")]),
        journal.append(lost, [row()]),
        journal.append(lease, [row(b"2")]),
    )
    assert isinstance(outcomes[1], LeaseLostError)
    assert begun == ["s", "lost", "s"]

    taken = Effect("k", "other/1", "hash", "intent")
    await journal.append(lease, [], effects=[Effect("k", "s/1", "hash", "intent")])
    begun.clear()
    outcomes = await all_at_once(
        path,
        journal.append(lost, [row()]),
        journal.append(lease, [row(b"no")], effects=[taken]),
        journal.append(lease, [row(b"3")]),
    )
    assert [type(each) for each in outcomes[:2]] == [LeaseLostError, KeyTakenError]
    assert begun == ["lost", "s", "lost", "s", "s"]
    assert [each.body for each in await journal.read("s")] == [b"1", b"2", b"3"]


async def test_a_commit_behind_a_crowded_one_waits_for_more(
    journal: SqliteJournal, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    lease = await claimed(journal, "s")

    await all_at_once(path, *(journal.append(lease, [row()]) for _ in range(work.CROWD - 1)))
    await journal.append(lease, [row()])
    assert slept == []

    await all_at_once(path, *(journal.append(lease, [row()]) for _ in range(work.CROWD)))
    await journal.append(lease, [row()])
    await journal.append(lease, [row()])
    assert slept == [work.GATHERING_S]
