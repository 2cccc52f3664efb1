"""Followers are woken by what happens here and in other processes."""

import asyncio
from contextlib import aclosing

from gateway.waiting import until
from runtime.journal.stores import Store, claimed, command, row, woken
from turnwire_agent.journal.port import Change, Journal


async def test_a_follower_is_woken_at_once_and_then_by_changes(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    async with aclosing(journal.follow("s")) as wakes:
        assert await anext(wakes) == Change(rows=True, commands=True)
        await journal.append(lease, [row()])
        assert (await anext(wakes)).rows
        await journal.put("s", command("c"))
        assert (await anext(wakes)).commands


async def test_changes_of_other_sessions_wake_no_follower(journal: Journal) -> None:
    """But a store that looks, or listens, for the first time: it does not know what moved."""
    lease, other = await claimed(journal, "s"), await claimed(journal, "other")
    wakes = 0

    async def follow() -> None:
        nonlocal wakes
        async for _ in journal.follow("s"):
            wakes += 1

    following = asyncio.create_task(follow())
    for _ in range(100):
        await journal.append(other, [row()])
        await asyncio.sleep(0.002)
    await journal.put("other", command("c"))
    before = wakes
    assert 1 <= before <= 3

    await journal.append(lease, [row()])
    await until(lambda: wakes > before)
    following.cancel()


async def test_an_append_of_the_holder_is_no_reason_to_look_for_commands(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    changes: list[Change] = []

    async def follow() -> None:
        async for change in journal.follow("s"):
            changes.append(change)  # noqa: PERF401 (it is looked at before the end)

    following = asyncio.create_task(follow())
    for _ in range(60):
        await journal.append(lease, [row()])
        await asyncio.sleep(0.002)
    following.cancel()

    assert len(changes) > 10
    # The first, and those of a store that looks, or listens, for the first time.
    assert sum(change.commands for change in changes) <= 3


async def test_what_the_holder_appends_does_not_wake_it(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    changes: list[Change] = []

    async def follow() -> None:
        async for change in journal.follow("s", lease.owner):
            changes.append(change)  # noqa: PERF401 (it is looked at before the end)

    following = asyncio.create_task(follow())
    for _ in range(60):
        await journal.append(lease, [row()])
        await asyncio.sleep(0.002)
    before = len(changes)
    await journal.put("s", command("c"))
    await until(lambda: len(changes) > before)
    following.cancel()

    # The first, and those of a store that looks while an append is on its way back.
    assert before < 15


async def test_a_change_through_another_journal_wakes(store: Store) -> None:
    here, there = await store.open(), await store.open()
    lease = await claimed(there, "s")

    async def rows() -> bool:
        return len(await here.read("s")) == 3

    async def commands() -> bool:
        return len(await here.commands("s")) == 2

    following = [
        asyncio.create_task(woken(here, "s", rows)),
        asyncio.create_task(woken(here, "s", commands)),
    ]
    for number in range(3):
        await there.append(lease, [row()])
        await there.put("s", command(f"c{min(number, 1)}"))
    await asyncio.gather(*following)


async def test_many_follow_and_all_are_woken(store: Store) -> None:
    here, there = await store.open(), await store.open()
    leases = [await claimed(there, f"s{number}") for number in range(20)]

    async def follow(number: int) -> None:
        async def rows() -> bool:
            return len(await here.read(f"s{number}")) == 5

        await woken(here, f"s{number}", rows)

    following = [asyncio.create_task(follow(number % 20)) for number in range(60)]
    for _ in range(5):
        await asyncio.gather(*(there.append(lease, [row()]) for lease in leases))
    await asyncio.gather(*following)


async def test_a_closed_journal_ends_its_followers(store: Store) -> None:
    journal = await store.open()

    async def follow() -> int:
        return len([None async for _ in journal.follow("s")])

    following = asyncio.create_task(follow())
    await asyncio.sleep(0)
    await journal.aclose()

    assert await following == 1


async def test_a_change_though_its_writer_was_cancelled_wakes(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    async with aclosing(journal.follow("s")) as wakes:
        await anext(wakes)
        writing = asyncio.create_task(journal.append(lease, [row()]))
        await asyncio.sleep(0)
        writing.cancel()
        while not await journal.read("s"):
            await anext(wakes)
