"""How many prompts of a session wait, and how large they are."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import QUICK, Scripted, echo, hosted
from turnwire_agent.host.commands import AbortCommand, command
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.host.holder import COMMANDS_AT_ONCE
from turnwire_agent.journal.memory import MemoryJournal
from turnwire_agent.journal.port import Command, TooManyCommandsError
from turnwire_agent.session.events import Prompted


async def test_prompts_that_came_at_once_at_several_replicas_are_held_to_the_bound() -> None:
    """Each replica has let them in, since none of them waited yet."""
    journal = MemoryJournal()
    await journal.start()
    for number in range(5):
        prompted = Prompted(entry_id=f"e{number}", prompt_id=f"p{number}", content="hello")
        await journal.put("s1", command(f"c{number}", prompted))

    settings = QUICK.__class__(lease_s=0.6, queue=3)
    async with hosted(Scripted(echo), journal, settings) as host, host.socket() as socket:
        await socket.until("complete", promptId="p2")
        async with host.socket() as later:
            entries = later.seen[0]["session"]["messages"]
            prompts = [each["promptId"] for each in entries if each["role"] == "user"]
            assert prompts == ["p0", "p1", "p2"]


def waits(content: str = "hello", url: str = "data:,") -> dict[str, Any]:
    return {"content": content, "attachments": [{"mime": "text/plain", "url": url}]}


async def holds(turn: Turn) -> Ended:
    if turn.prompt.content == "hold":
        await asyncio.Event().wait()
    return Ended()


@pytest.mark.parametrize("large", [waits("x" * 800), waits("é" * 400), waits(url="x" * 800)])
async def test_prompts_that_wait_have_so_many_bytes_together(large: dict[str, Any]) -> None:
    settings = replace(QUICK, queue_bytes=1_000)
    async with hosted(Scripted(holds), settings=settings) as host, host.socket() as socket:
        await socket.ask("hold")
        await socket.until("message.create", promptId="p1")
        for prompt_id in ("p2", "p3"):
            await socket.ask(prompt_id=prompt_id, **large)
            await asyncio.sleep(0.05)
        error = await socket.until("error")
        assert error == {"type": "error", "error": "Too many prompts wait", "promptId": "p3"}
        await socket.ask("small", "p4")
        await socket.send("abort", promptId="p1")
        await socket.until("complete", promptId="p4")


async def test_a_prompt_of_any_size_may_wait_alone() -> None:
    settings = replace(QUICK, queue_bytes=1_000)
    async with hosted(Scripted(echo), settings=settings) as host, host.socket() as socket:
        await socket.turn("x" * 5_000)


async def test_large_prompts_that_came_at_once_are_held_to_the_bound() -> None:
    journal = MemoryJournal()
    await journal.start()
    for number in range(5):
        prompted = Prompted(entry_id=f"e{number}", prompt_id=f"p{number}", content="x" * 400)
        await journal.put("s1", command(f"c{number}", prompted))

    settings = replace(QUICK, queue_bytes=1_000)
    async with hosted(Scripted(echo), journal, settings) as host, host.socket() as socket:
        await socket.until("complete", promptId="p1")
        async with host.socket() as later:
            entries = later.seen[0]["session"]["messages"]
            prompts = [each["promptId"] for each in entries if each["role"] == "user"]
            assert prompts == ["p0", "p1"]


async def test_commands_without_room_in_the_journal_are_refused_as_too_many() -> None:
    class Full(MemoryJournal):
        async def put(self, session: str, command: Command) -> bool:  # noqa: ARG002
            raise TooManyCommandsError

    async with hosted(Scripted(echo), Full()) as host, host.socket() as socket:
        await socket.ask("hello")
        assert (await socket.until("error"))["error"] == "Too many prompts wait"


async def test_many_commands_are_read_a_few_at_once_and_all_taken() -> None:
    read: list[int] = []

    class Counting(MemoryJournal):
        async def commands(self, session: str, *, limit: int = 1_000) -> Sequence[Command]:
            found = await super().commands(session, limit=limit)
            read.append(len(found))
            return found

    journal = Counting()
    await journal.start()
    number = 2 * COMMANDS_AT_ONCE
    for each in range(number):
        prompted = Prompted(entry_id=f"e{each}", prompt_id=f"p{each}", content="hello")
        await journal.put("s1", command(f"c{each}", prompted))

    async with hosted(Scripted(echo), journal) as host, host.socket() as socket:
        await socket.until("complete", promptId=f"p{number - 1}")
    assert read[:3] == [COMMANDS_AT_ONCE, COMMANDS_AT_ONCE, 0]
    assert max(read[3:]) == 0


async def test_a_turn_ends_though_commands_come_again_and_again() -> None:
    class Flooded(MemoryJournal):
        """Whenever it is asked, there are as many commands as are read at once."""

        async def commands(self, *args: Any, **kwargs: Any) -> Sequence[Command]:
            for number in range(COMMANDS_AT_ONCE):
                stop = command(f"{self.arrivals}-{number}", AbortCommand(turn_id="nobody"))
                await self.put("s1", stop)
            self.arrivals += 1
            return await super().commands(*args, **kwargs)

        arrivals = 0

    async with hosted(Scripted(echo), Flooded()) as host, host.socket() as socket:
        async with asyncio.timeout(PATIENCE_S):
            await socket.turn("hello")
