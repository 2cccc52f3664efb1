"""Commands: each once, in their order, taken with what they led to."""

import asyncio

import pytest

from runtime.journal.stores import Store, claimed, command, row
from turnwire_agent.journal import memory, room
from turnwire_agent.journal.port import (
    SMALL_COMMAND_BYTES,
    Journal,
    LeaseLostError,
    TooManyCommandsError,
)
from turnwire_agent.journal.sql import transactions


async def test_commands_come_in_the_order_of_their_arrival(store: Store) -> None:
    first, second = await store.open(), await store.open()

    assert await first.put("s", command("z", b"1"))
    assert await second.put("s", command("a", b"2"))
    assert await first.put("other", command("z", b"3"))

    found = await first.commands("s")
    assert [(each.number, each.id, each.kind, each.body) for each in found] == [
        (1, "z", "prompt", b"1"),
        (2, "a", "prompt", b"2"),
    ]


async def test_a_known_id_is_the_same_command_also_once_it_is_taken(journal: Journal) -> None:
    await journal.put("s", command("c", b"first"))

    assert not await journal.put("s", command("c", b"second"))
    (found,) = await journal.commands("s")
    assert found.body == b"first"

    await journal.append(await claimed(journal, "s"), [row()], take=["c"])
    assert list(await journal.commands("s")) == []
    assert not await journal.put("s", command("c", b"third"))
    assert list(await journal.commands("s")) == []
    await journal.put("s", command("d"))
    assert [each.number for each in await journal.commands("s")] == [2]


async def test_a_command_that_was_not_there_is_not_taken(journal: Journal) -> None:
    await journal.put("s", command("c"))

    appended = await journal.append(await claimed(journal, "s"), [row()], take=["never", "c", "c"])

    assert appended.head == 1
    assert await journal.put("s", command("never"))


async def test_a_lost_lease_takes_nothing(journal: Journal) -> None:
    await journal.put("s", command("c"))
    lost = await claimed(journal, "s")
    await claimed(journal, "s")

    with pytest.raises(LeaseLostError):
        await journal.append(lost, [row()], take=["c"])

    assert [each.id for each in await journal.commands("s")] == ["c"]
    assert await journal.read("s") == []


FEW = 20


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of 20, where a store takes minutes to reach 1,000 on a busy machine."""
    monkeypatch.setattr(room, "COMMANDS_MAX", FEW)
    monkeypatch.setattr(memory, "TAKEN_IDS_MIN", FEW)
    monkeypatch.setattr(transactions, "COMMANDS_MAX", FEW)
    monkeypatch.setattr(transactions, "TAKEN_IDS_MIN", FEW)


@pytest.mark.usefixtures("few")
async def test_a_session_has_room_for_so_many_commands(journal: Journal) -> None:
    for number in range(FEW):
        await journal.put("s", command(f"c{number}"))

    with pytest.raises(TooManyCommandsError):
        await journal.put("s", command("more"))
    assert not await journal.put("s", command("c7"))  # the one that was put is no more than it was
    assert len(await journal.commands("s")) == FEW

    await journal.append(await claimed(journal, "s"), [], take=["c0"])
    assert await journal.put("s", command("more"))


async def test_a_session_has_room_for_so_many_bytes(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "COMMANDS_BYTES_MAX", 10_000)
    await journal.put("s", command("alone", b"1" * 20_000))
    with pytest.raises(TooManyCommandsError):
        await journal.put("s", command("more", b"1" * (SMALL_COMMAND_BYTES + 1)))
    assert await journal.put("other", command("alone", b"1" * 20_000))

    assert await journal.put("s", command("stop", b"1" * SMALL_COMMAND_BYTES))
    await journal.append(await claimed(journal, "s"), [], take=["alone"])
    rest = 10_000 - SMALL_COMMAND_BYTES
    with pytest.raises(TooManyCommandsError):
        await journal.put("s", command("more", b"1" * (rest + 1)))
    assert await journal.put("s", command("more", b"1" * rest))


async def test_of_the_commands_only_the_first_are_read(journal: Journal) -> None:
    for id_ in "cab":
        await journal.put("s", command(id_))

    assert [each.id for each in await journal.commands("s", limit=2)] == ["c", "a"]
    assert await journal.commands("never", limit=2) in ([], ())


@pytest.mark.usefixtures("few")
async def test_ids_of_taken_commands_are_kept_the_newest_of_them(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    await journal.put("s", command("waits"))
    for start in range(0, 3 * FEW, 5):
        ids = [f"c{number}" for number in range(start, start + 5)]
        await asyncio.gather(*(journal.put("s", command(each)) for each in ids))
        await journal.append(lease, [], take=ids)

    assert [each.id for each in await journal.commands("s")] == ["waits"]
    newest = [f"c{number}" for number in range(2 * FEW, 3 * FEW)]
    assert not any([await journal.put("s", command(each)) for each in newest])
    assert await journal.put("s", command("c0"))


async def test_the_same_command_put_by_many_at_once_is_one(store: Store) -> None:
    journals = [await store.open(), await store.open()]

    new = await asyncio.gather(
        *(journals[number % 2].put("s", command("c")) for number in range(40))
    )

    assert sum(new) == 1
    assert [each.number for each in await journals[0].commands("s")] == [1]
