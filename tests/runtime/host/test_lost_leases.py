"""A lease that is lost is lost once, whoever says so first."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from prometheus_client import REGISTRY

from runtime.host.hosted import Scripted, hosted
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Appended, LeaseLostError
from turnwire_agent.session.deltas import TextAdded

pytestmark = pytest.mark.sockets


def lost() -> float:
    found = REGISTRY.get_sample_value("turnwire_agent_leases_lost_total")
    assert found is not None
    return found


async def test_a_lease_that_is_lost_in_a_write_and_in_renewals_is_lost_once() -> None:
    class Taken(MemoryJournal):
        is_taken = False

        async def append(self, *args: Any, **fields: Any) -> Appended:
            if self.is_taken:
                await asyncio.sleep(0.05)  # the renewal is faster
                raise LeaseLostError
            return await super().append(*args, **fields)

    async def lingers(turn: Turn) -> Ended:
        turn.add(TextAdded("Hm"))
        for _ in range(2):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(60)
        await asyncio.sleep(0.2)
        return Ended()

    journal = Taken()
    before = lost()
    async with hosted(Scripted(lingers), journal) as host, host.socket() as socket:
        await socket.ask("Hi")
        await socket.until("message.part.text-delta")
        holder = host.replica._sessions["s1"].holder
        assert holder is not None
        journal.is_taken = True
        holder._writer.add(holder._live.state.running.turn_id, TextAdded("more"))  # type: ignore[union-attr]
        await asyncio.sleep(0)
        holder.lose()
        holder.lose()
        assert lost() == before + 1
        await asyncio.sleep(0.15)
        assert not holder._writer.is_good
        assert lost() == before + 1
        journal.is_taken = False
