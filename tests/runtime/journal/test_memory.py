"""What only the memory has: an end of its room."""

import pytest

from runtime.journal.stores import claimed, command, row
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Effect, UnavailableError


async def idle(journal: MemoryJournal, session: str) -> None:
    lease = await claimed(journal, session)
    effect = Effect(f"key of {session}", f"{session}/1", "hash", "intent")
    await journal.append(lease, [row()], effects=[effect], release=True)


async def test_the_session_that_nobody_used_for_longest_makes_room() -> None:
    journal = MemoryJournal(sessions_max=3)
    await journal.start()
    for session in ("a", "b", "c"):
        await idle(journal, session)
    await idle(journal, "a")

    await idle(journal, "d")

    assert await journal.sessions() == ["a", "c", "d"]
    assert await journal.effect("key of b") is None
    assert await journal.effect("key of a") is not None


async def test_no_session_that_is_held_or_due_makes_room() -> None:
    journal = MemoryJournal(sessions_max=3)
    await journal.start()
    await claimed(journal, "held")
    await journal.put("asked", command("c"))
    lease = await claimed(journal, "sleeps")
    await journal.append(lease, [], release=True, wake_at=4e9)

    with pytest.raises(UnavailableError, match="room"):
        await journal.put("more", command("c"))

    assert await journal.sessions() == ["asked", "held", "sleeps"]


async def test_times_are_those_of_its_clock() -> None:
    now = 1_000.0
    journal = MemoryJournal(clock=lambda: now)
    await journal.start()
    await claimed(journal, "s", "a", 10)

    now += 9.9
    assert await journal.claim("s", "b", 10) is None
    now += 0.1
    assert await journal.due() == ["s"]
    assert await journal.claim("s", "b", 10) is not None
