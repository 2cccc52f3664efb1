"""Several processes on one journal: one is killed, or stopped and goes on."""

import asyncio
import signal
import statistics
import time
from contextlib import aclosing

import pytest

from runtime.journal.second_process import second_process
from runtime.journal.stores import PostgresStore, SqliteStore, Store, claimed, row
from turnwire_agent.journal.port import Journal, Lease, UnavailableError

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.parametrize("store", ["sqlite", "postgres"], indirect=True),
]

FOLLOWED_S = 0.2


def address(store: Store) -> str:
    if isinstance(store, SqliteStore):
        return f"sqlite:{store.path}"
    assert isinstance(store, PostgresStore)
    return store.url


async def test_what_a_killed_process_was_told_is_there_and_no_half_of_a_write(
    store: Store,
) -> None:
    journal = await store.open()
    sessions = [f"s{number}" for number in range(5)]
    acknowledged = dict.fromkeys(sessions, 0)

    for kill in range(1, 4):
        async with second_process("write", address(store), "0.01", *sessions) as child:
            lines = [await child.line() for _ in range(20 * kill)]
            child.signal(signal.SIGKILL)
            lines += await child.rest()
        for session, head in (line.split() for line in lines):
            acknowledged[session] = int(head)

        for session in sessions:
            rows = await journal.read(session, limit=100_000)
            assert len(rows) >= acknowledged[session]
            assert [each.seq for each in rows] == list(range(1, len(rows) + 1))
            written = [each.body.decode().rpartition(".") for each in rows]
            assert [part for _, _, part in written] == ["0", "1", "2"] * (len(rows) // 3)
            for write, _, _ in written[::3]:
                kept = await journal.effect(f"{session}/{write}")
                assert (kept is not None) == (int(write.partition(".")[2]) % 2 == 1)


async def test_a_stopped_process_writes_nothing_after_a_takeover(store: Store) -> None:
    journal = await store.open()
    async with second_process("write", address(store), "0.05", "s") as child:
        lease = None
        while lease is None:
            await child.line()
            child.signal(signal.SIGSTOP)
            lease = await taken_over(journal)
            if lease is None:  # stopped in the middle of a write transaction
                child.signal(signal.SIGCONT)
        await journal.append(lease, [row(b"after")])
        child.signal(signal.SIGCONT)

        lines = await child.rest()

    assert lines[-1] == "s lost"
    rows = await journal.read("s", limit=100_000)
    assert rows[-1].body == b"after"
    assert [each.seq for each in rows] == list(range(1, len(rows) + 1))
    assert {each.epoch for each in rows[:-1]} == {lease.epoch - 1}


async def taken_over(journal: Journal) -> Lease | None:
    while True:
        try:
            lease = await journal.claim("s", "parent", 60)
        except UnavailableError:
            return None
        if lease is not None:
            return lease


async def test_a_follower_is_woken_within_200_ms_by_another_process(store: Store) -> None:
    journal = await store.open()
    took: list[float] = []
    async with (
        second_process("answer", address(store), "s") as child,
        aclosing(journal.follow("s")) as wakes,
    ):
        assert await child.line() == "ready"
        for head in range(1, 10):
            child.tell()
            async for change in wakes:
                woken = time.time()
                assert change.rows
                if len(await journal.read("s")) == head:
                    break
            took.append(woken - float(await child.line()))

    assert statistics.median(took) < FOLLOWED_S


async def test_processes_that_start_together_make_the_tables_once(store: Store) -> None:
    async def write(session: str) -> list[str]:
        async with second_process("write", address(store), "60", session) as child:
            return [await child.line() for _ in range(3)]

    lines = await asyncio.gather(*(write(f"s{number}") for number in range(4)))

    assert lines == [[f"s{number} {head}" for head in (3, 6, 9)] for number in range(4)]
    journal = await store.open()
    assert len(await journal.sessions()) == 4
    await claimed(journal, "another")
