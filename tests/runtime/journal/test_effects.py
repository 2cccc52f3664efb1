"""What became of a side effect, under a key that one call has."""

import asyncio

import pytest

from runtime.journal.stores import Store, claimed, command, row
from turnwire_agent.journal.port import Effect, Journal, KeyTakenError, LeaseLostError


def effect(key: str = "order 7", call: str = "s/call-1", result: bytes | None = None) -> Effect:
    if result is None:
        return Effect(key, call, "hash", "intent")
    return Effect(key, call, "hash", "done", result)


async def test_an_effect_goes_from_intent_to_done(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    assert await journal.effect("order 7") is None

    await journal.append(lease, [row()], effects=[effect()])
    assert await journal.effect("order 7") == effect()

    done = effect(result=b"\0result")
    await journal.append(lease, [row()], effects=[done])
    assert await journal.effect("order 7") == done


async def test_the_key_of_another_call_undoes_the_whole_write(journal: Journal) -> None:
    mine, others = await claimed(journal, "s"), await claimed(journal, "t")
    await journal.append(others, [row()], effects=[effect(call="t/call-1", result=b"theirs")])
    await journal.put("s", command("c"))

    with pytest.raises(KeyTakenError):
        await journal.append(
            mine,
            [row()],
            take=["c"],
            effects=[effect("a free key"), effect(), effect("z free key")],
            release=True,
        )

    assert await journal.read("s") == []
    assert [each.id for each in await journal.commands("s")] == ["c"]
    assert await journal.effect("a free key") is None
    assert await journal.effect("z free key") is None
    assert await journal.effect("order 7") == effect(call="t/call-1", result=b"theirs")
    await journal.append(mine, [row()])


async def test_two_calls_of_one_write_do_not_share_a_key(journal: Journal) -> None:
    lease = await claimed(journal, "s")

    with pytest.raises(KeyTakenError):
        await journal.append(lease, [], effects=[effect(), effect(call="s/call-2")])

    assert await journal.effect("order 7") is None


async def test_a_lost_lease_records_nothing(journal: Journal) -> None:
    lost = await claimed(journal, "s")
    await claimed(journal, "s")

    with pytest.raises(LeaseLostError):
        await journal.append(lost, [], effects=[effect()])

    assert await journal.effect("order 7") is None


async def test_of_many_calls_that_want_the_same_keys_one_has_them(store: Store) -> None:
    """In any order: nobody waits for somebody who waits for it."""
    journals = [await store.open(), await store.open()]
    leases = [await claimed(journals[0], f"s{number}") for number in range(20)]
    keys = [f"key {number}" for number in range(10)]

    async def want(number: int) -> bool:
        order = keys if number % 4 < 2 else keys[::-1]
        try:
            await journals[number % 2].append(
                leases[number], [row()], effects=[effect(key, f"s{number}/c") for key in order]
            )
        except KeyTakenError:
            return False
        return True

    assert sum(await asyncio.gather(*(want(number) for number in range(20)))) == 1
    assert len({found.call for key in keys if (found := await journals[0].effect(key))}) == 1
