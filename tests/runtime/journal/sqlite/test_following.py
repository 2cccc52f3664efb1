"""What is asked for, and when, to notice the writes of other processes."""

import asyncio
import threading
from contextlib import AsyncExitStack, aclosing
from functools import partial
from pathlib import Path

from runtime.journal.stores import claimed, row
from turnwire_agent.journal.sql.transactions import Transaction
from turnwire_agent.journal.sqlite.journal import SqliteJournal


async def opened(path: Path, closing: AsyncExitStack) -> SqliteJournal:
    journal = SqliteJournal(path, synchronous="normal")
    await journal.start()
    closing.push_async_callback(journal.aclose)
    return journal


def waiting(go_on: threading.Event) -> Transaction[None]:
    """Keeps the thread that reads busy."""
    go_on.wait()
    yield []


async def test_who_begins_to_follow_while_others_are_asked_for_misses_nothing(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as closing:
        here = await opened(tmp_path / "journal.db", closing)
        there = await opened(tmp_path / "journal.db", closing)
        assert here._polling is not None
        here._polling.cancel()
        lease = await claimed(there, "s")
        async with aclosing(here.follow("other")) as first, aclosing(here.follow("s")) as later:
            await anext(first)
            go_on = threading.Event()
            here._reader.submit(partial(waiting, go_on))
            asking = asyncio.create_task(here._positions(("other",)))
            await asyncio.sleep(0)
            await anext(later)
            await there.append(lease, [row()])
            go_on.set()
            assert await asking == []

            assert await here._positions(("other", "s")) == [("s", 1, 0)]
            assert await here._positions(("other", "s")) is None


async def test_a_write_of_this_process_alone_asks_for_nothing_twice(tmp_path: Path) -> None:
    async with AsyncExitStack() as closing:
        here = await opened(tmp_path / "journal.db", closing)
        assert here._polling is not None
        here._polling.cancel()
        lease = await claimed(here, "s")
        async with aclosing(here.follow("s")) as changes:
            await anext(changes)
            await here._poller.look()
            await anext(changes)
            await here.append(lease, [row()])
            await anext(changes)

            await here._poller.look()

            (follower,) = here._followers._followers["s"]
            assert not follower.changed.is_set()
