"""Who may append: claims, epochs, renewals, releases, and the end of a lease."""

import time

import pytest

from runtime.journal.stores import Store, claimed, command, eventually, row
from turnwire_agent.journal.port import Journal, Lease, LeaseLostError

MOMENT_S = 0.02


async def test_one_owner_has_the_lease(store: Store) -> None:
    first, second = await store.open(), await store.open()

    lease = await first.claim("s", "a", 60)
    refused = await second.claim("s", "b", 60)

    assert lease is not None
    assert (lease.session, lease.owner, lease.epoch) == ("s", "a", 1)
    assert refused is None


async def test_a_lease_says_when_it_was_taken_by_the_clock_that_says_what_is_due(
    journal: Journal,
) -> None:
    lease = await claimed(journal, "s")
    assert lease.at is not None
    assert abs(lease.at - time.time()) < 60

    await journal.append(lease, [], release=True, wake_at=lease.at)
    assert await journal.due() == ["s"]
    again = await claimed(journal, "s")
    assert again.at is not None
    assert again.at >= lease.at


async def test_who_claims_again_loses_the_older_lease(journal: Journal) -> None:
    older = await claimed(journal, "s")
    newer = await claimed(journal, "s")

    assert newer.epoch == older.epoch + 1
    with pytest.raises(LeaseLostError):
        await journal.append(older, [row()])
    await journal.append(newer, [row()])


async def test_a_lease_that_ran_out_is_taken_over_and_its_holder_writes_nothing(
    store: Store,
) -> None:
    first, second = await store.open(), await store.open()
    older = await claimed(first, "s", "a", MOMENT_S)
    await first.append(older, [row(b"before")])
    await first.put("s", command("c"))

    newer = await eventually(lambda: second.claim("s", "b", 60))

    assert newer is not None
    assert newer.epoch == older.epoch + 1
    with pytest.raises(LeaseLostError):
        await first.append(older, [row(b"late")], take=["c"], settle=True, release=True)
    assert [each.body for each in await first.read("s")] == [b"before"]
    assert [each.id for each in await first.commands("s")] == ["c"]
    await second.append(newer, [row(b"after")])
    assert await first.claim("s", "a", 60) is None


async def test_a_lease_that_ran_out_is_good_until_another_takes_the_session(
    journal: Journal,
) -> None:
    lease = await claimed(journal, "s", "a", MOMENT_S)
    await eventually(journal.due)

    await journal.append(lease, [row()])
    assert await journal.renew("a", 60) == {"s"}

    assert await journal.due() == []
    assert await journal.claim("s", "b", 60) is None


async def test_renewal_tells_what_is_still_held(store: Store) -> None:
    first, second = await store.open(), await store.open()
    lost = await claimed(first, "lost", "a", MOMENT_S)
    await claimed(first, "kept", "a")
    released = await claimed(first, "released", "a")
    await claimed(second, "others", "b")
    await first.append(released, [], release=True)
    await eventually(lambda: second.claim("lost", "b", 60))

    assert await first.renew("a", 60) == {"kept"}
    assert await second.renew("b", 60) == {"lost", "others"}
    assert await first.renew("nobody", 60) == frozenset()
    with pytest.raises(LeaseLostError):
        await first.append(lost, [])


async def test_a_released_lease_is_anybodys_and_no_longer_its_owners(journal: Journal) -> None:
    lease = await claimed(journal, "s")

    await journal.append(lease, [row()], release=True)

    with pytest.raises(LeaseLostError):
        await journal.append(lease, [row()])
    newer = await claimed(journal, "s", "b")
    assert (newer.session, newer.owner, newer.epoch) == ("s", "b", lease.epoch + 1)


async def test_a_lease_of_a_session_that_never_was_is_lost(journal: Journal) -> None:
    with pytest.raises(LeaseLostError):
        await journal.append(Lease("never", "a", 1), [row()])

    assert await journal.sessions() == []


async def test_the_epoch_of_another_owner_is_no_lease(journal: Journal) -> None:
    lease = await claimed(journal, "s")

    with pytest.raises(LeaseLostError):
        await journal.append(Lease("s", "b", lease.epoch), [row()])
