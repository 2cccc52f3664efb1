"""Which sessions somebody should claim, and in which order."""

import time

from runtime.journal.stores import claimed, command, eventually, row
from turnwire_agent.journal.port import Journal

MOMENT_S = 0.02


async def test_a_session_with_a_command_is_due_until_it_is_claimed(journal: Journal) -> None:
    await journal.put("s", command("c"))
    assert await journal.due() == ["s"]

    lease = await claimed(journal, "s")
    assert await journal.due() == []
    await journal.put("s", command("d"))
    assert await journal.due() == []

    await journal.append(lease, [row()], take=["c", "d"], release=True)
    assert await journal.due() == []


async def test_commands_that_are_left_make_a_released_session_due(journal: Journal) -> None:
    await journal.put("s", command("c"))
    await journal.put("s", command("d"))
    lease = await claimed(journal, "s")

    await journal.append(lease, [row()], take=["c"], release=True, wake_at=time.time() + 3_600)

    assert await journal.due() == ["s"]


async def test_a_lease_that_ran_out_makes_its_session_due(journal: Journal) -> None:
    await claimed(journal, "s", "a", 60)
    await claimed(journal, "over", "a", MOMENT_S)

    assert await eventually(journal.due) == ["over"]


async def test_a_session_wakes_at_its_time(journal: Journal) -> None:
    lease = await claimed(journal, "s")

    await journal.append(lease, [row()], release=True, wake_at=time.time() + 0.05)

    assert await eventually(journal.due) == ["s"]


async def test_a_command_is_not_kept_waiting_by_a_later_time(journal: Journal) -> None:
    lease = await claimed(journal, "s")
    await journal.append(lease, [row()], release=True, wake_at=time.time() + 3_600)
    assert await journal.due() == []

    await journal.put("s", command("c"))

    assert await journal.due() == ["s"]


async def test_those_that_wait_longest_come_first(journal: Journal) -> None:
    now = time.time()
    for session, ago in (("b", 10), ("c", 30), ("a", 20), ("d", 10)):
        lease = await claimed(journal, session)
        await journal.append(lease, [], release=True, wake_at=now - ago)
    await journal.put("a", command("c"))  # it waits as long as it did

    assert await journal.due() == ["c", "a", "b", "d"]
    assert await journal.due(limit=2) == ["c", "a"]


async def test_a_time_without_release_says_nothing(journal: Journal) -> None:
    lease = await claimed(journal, "s")

    await journal.append(lease, [row()], wake_at=time.time() - 1)

    assert await journal.due() == []
