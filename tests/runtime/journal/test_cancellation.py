"""A caller that is cancelled leaves nothing half done, and the journal as it was."""

import asyncio
import random

import pytest

from runtime.journal.stores import Store, claimed, command, row
from turnwire_agent.journal.port import Effect, Journal, LeaseLostError


async def test_what_a_cancelled_caller_began_is_there_as_a_whole(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    await journal.put("s", command("c"))
    writing = asyncio.create_task(
        journal.append(lease, [row(b"1"), row(b"2")], take=["c"], effects=[effect("k")])
    )
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait([writing])

    # In the order of the calls: what comes now is behind it.
    await journal.append(lease, [row(b"3")], release=True)

    assert [each.body for each in await journal.read("s")] == [b"1", b"2", b"3"]
    assert list(await journal.commands("s")) == []
    assert await journal.effect("k") == effect("k")


@pytest.mark.parametrize("seed", range(3))
async def test_a_storm_of_cancellations_breaks_nothing(store: Store, seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (a test that can be repeated)
    journals = [await store.open(), await store.open()]
    leases = [await claimed(journals[0], f"s{number}") for number in range(10)]

    async def work(number: int) -> None:
        journal, lease = journals[number % 2], leases[number % 10]
        rows = [row(b"%d.%d" % (number, part), detail=True) for part in range(3)]
        await journal.put(lease.session, command(f"c{number}"))
        await journal.append(
            lease, rows, take=[f"c{number}"], effects=[effect(f"k{number}", lease.session)]
        )
        await journal.read(lease.session)
        await journal.renew("a", 60)

    async def cancel_sometime(number: int) -> None:
        task = asyncio.create_task(work(number))
        for _ in range(dice.randrange(30)):
            await asyncio.sleep(0)
        await asyncio.sleep(dice.choice([0, 0, 0.001, 0.003]))
        task.cancel()
        await asyncio.wait([task])

    for wave in range(5):
        await asyncio.gather(*(cancel_sometime(wave * 40 + each) for each in range(40)))

    for number, lease in enumerate(leases):
        await journals[number % 2].append(lease, [row(b"end")])
        rows = await journals[1 - number % 2].read(lease.session)
        assert [each.seq for each in rows] == list(range(1, len(rows) + 1))
        written = [each.body.decode() for each in rows[:-1]]
        tasks = written[::3]
        assert written == [
            f"{task.partition('.')[0]}.{part}" for task in tasks for part in range(3)
        ]
        waiting = {each.id for each in await journals[0].commands(lease.session)}
        for each in range(number, 200, 10):
            wrote = f"{each}.0" in tasks
            assert (await journals[0].effect(f"k{each}") is not None) == wrote
            assert not (wrote and f"c{each}" in waiting)


async def test_a_storm_of_claims_leaves_one_holder(store: Store) -> None:
    journals = [await store.open(), await store.open()]

    async def claim(number: int) -> None:
        await journals[number % 2].claim("s", "a", 60)

    tasks = [asyncio.create_task(claim(number)) for number in range(40)]
    await asyncio.sleep(0)
    for task in tasks[::3]:
        task.cancel()
    await asyncio.wait(tasks)
    older = await claimed(journals[0], "s")
    newest = await claimed(journals[1], "s")  # behind all that both have begun

    assert newest.epoch == 42
    with pytest.raises(LeaseLostError):
        await journals[0].append(older, [row()])
    await journals[0].append(newest, [row()])


def effect(key: str, session: str = "s") -> Effect:
    return Effect(key, f"{session}/{key}", "hash", "intent")
