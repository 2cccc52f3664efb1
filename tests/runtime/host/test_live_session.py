"""What all sockets of a session are sent, whoever reads its journal meanwhile."""

import asyncio
from typing import Any

from runtime.host.hosted import Scripted, hosted, words
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Appended
from turnwire_agent.session.deltas import TextAdded


class AnswersLate(MemoryJournal):
    """What is committed can be read before its writer hears of it, as in any store far away."""

    async def append(self, *args: Any, **kwargs: Any) -> Appended:
        appended = await super().append(*args, **kwargs)
        await asyncio.sleep(0.02)
        return appended


async def test_sockets_that_join_while_a_commit_is_answered_double_no_word() -> None:
    async def answer(turn: Turn) -> Ended:
        for number in range(20):
            turn.add(TextAdded(f"{number} "))
            await asyncio.sleep(0.01)
        return Ended()

    async with hosted(Scripted(answer), AnswersLate()) as host, host.socket() as socket:
        await socket.ask("count")

        async def join() -> None:
            for _ in range(20):
                async with host.socket():
                    await asyncio.sleep(0.005)

        joining = asyncio.create_task(join())
        assert words(await socket.rest()) == "".join(f"{number} " for number in range(20))
        await joining
