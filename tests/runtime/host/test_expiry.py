"""Questions expire by the clock that says when their session is due, and that is the store's."""

import asyncio
import time

import pytest
from msgspec.structs import replace

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import Scripted, hosted
from turnwire_agent.host.driver import Ended, Parked, Turn
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Lease
from turnwire_agent.session.events import QuestionAsked, QuestionClosed

pytestmark = pytest.mark.sockets


class Counting(MemoryJournal):
    """Its clock is ahead of that of its users, and it counts how often a session is claimed."""

    def __init__(self, ahead_s: float, *, says: bool = True) -> None:
        super().__init__(clock=lambda: time.time() + ahead_s)
        self.claims = 0
        self._says = says

    async def claim(self, session: str, owner: str, lease_s: float) -> Lease | None:
        lease = await super().claim(session, owner, lease_s)
        self.claims += 1
        return lease if lease is None or self._says else replace(lease, at=None)


async def asks(turn: Turn, expires_at: float) -> Ended | Parked:
    """Ask, and wait without a process."""
    if any(isinstance(each, QuestionClosed) for each in turn.events):
        return Ended()
    asked = QuestionAsked(
        turn_id=turn.turn_id, question_id="q1", text="May it?", expires_at=expires_at
    )
    await turn.write(asked)
    return Parked()


async def test_a_question_in_a_store_whose_clock_is_ahead_is_closed_by_one_claim() -> None:
    journal = Counting(100)

    async def turn(turn: Turn) -> Ended | Parked:
        return await asks(turn, time.time() + 100.5)

    async with hosted(Scripted(turn), journal) as host, host.socket() as socket:
        await socket.ask("hello")
        async with asyncio.timeout(PATIENCE_S):
            await socket.until("question.expired", questionId="q1")
            await socket.until("complete", promptId="p1")
    assert journal.claims == 2  # one for the prompt


async def test_a_question_in_a_store_whose_clock_is_behind_is_left_until_it_is_due() -> None:
    journal = Counting(-100)
    began = time.monotonic()

    async def turn(turn: Turn) -> Ended | Parked:
        return await asks(turn, time.time() - 99.5)

    async with hosted(Scripted(turn), journal) as host, host.socket() as socket:
        await socket.ask("hello")
        async with asyncio.timeout(PATIENCE_S):
            await socket.until("question.expired", questionId="q1")
    assert time.monotonic() - began > 0.4
    assert journal.claims == 2


async def test_a_store_without_a_clock_of_its_own_has_that_of_the_process() -> None:
    journal = Counting(0, says=False)

    async def turn(turn: Turn) -> Ended | Parked:
        return await asks(turn, time.time() + 0.3)

    async with hosted(Scripted(turn), journal) as host, host.socket() as socket:
        await socket.ask("hello")
        async with asyncio.timeout(PATIENCE_S):
            await socket.until("question.expired", questionId="q1")
    assert journal.claims == 2
