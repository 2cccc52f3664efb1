"""System calls a frame and a turn of the real gateway, as the kernel's tracer tells them.

What the loop asks the kernel on its own account (the time, which sockets are ready) depends on
how busy the machine is, and is left out.
"""

import asyncio
import re
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Self

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Chat, ask, is_whole, new_client
from gateway.needed import forbidden, program
from gateway.process import Process
from gateway.tokens import bearer
from gateway.waiting import until
from guards.limits import hold
from guards.offline import turns

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

TRACED: Final = "%network,read,readv,write,writev,close,openat,ioctl,epoll_ctl"
WARM, TURNS, FRAMES = 3, 20, 50

_CALL: Final = re.compile(r"^(?:\d+ +)?(?:\[pid +\d+\] )?(\w+)\(", re.MULTILINE)


class Traced(Process):
    """A gateway whose system calls are written down as they are made."""

    def __init__(self, agent_url: str, log: Path) -> None:
        super().__init__(agent_url, max_streams_per_user=0)
        strace = program("strace")
        self._written = log
        self._command = (
            strace,
            "-D",  # so that the process is the gateway, and signals reach it
            "-f",
            "-qq",
            "-e",
            f"trace={TRACED}",
            "-o",
            str(log),
            *self._command,
        )

    async def calls(self) -> Counter[str]:
        """All calls until now, once nothing is under way any more."""
        size = -1
        while size != (size := self._written.stat().st_size):  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.3)
        return Counter(_CALL.findall(self._written.read_text()))

    async def __aenter__(self) -> Self:
        try:
            return await super().__aenter__()
        except AssertionError:
            if "not permitted" in self.errors:
                forbidden("tracing")
            raise


@asynccontextmanager
async def chatting(gateway: Process) -> AsyncIterator[Chat]:
    url = f"{gateway.url}/api/sessions/s1/chat"
    async with (
        new_client() as client,
        client.stream("POST", url, json=ask(), headers=bearer()) as response,
    ):
        yield Chat(response)


async def test_system_calls_of_a_turn_and_of_a_frame(tmp_path: Path) -> None:
    async def at_once(line: Line) -> None:
        """Tell all in one write, so in one read."""
        prompt = await line.prompt()
        told = turns(5)(prompt["promptId"])
        await line.raw(b"".join(told))

    async with (
        ScriptedAgent(at_once, compression=None) as agent,
        Traced(agent.url(), tmp_path / "calls") as gateway,
    ):
        for _ in range(WARM):
            await a_turn(gateway)
        before = await gateway.calls()
        for _ in range(TURNS):
            await a_turn(gateway)
        of_turns = await gateway.calls() - before

        agent.script = Line.begin
        async with chatting(gateway) as chat:
            line = await agent.line(WARM + TURNS)
            await until(lambda: line.of_type("prompt"))
            before = await gateway.calls()
            for number in range(FRAMES):
                await line.say(frames.delta(f"<{number}>"))
                await chat.sees(f"<{number}>")
            of_frames = await gateway.calls() - before
            await line.say(frames.finalize())
            await chat.end()

    hold("gateway: system calls a short turn", of_turns.total() / TURNS)
    hold("gateway: writes a short turn", of_turns["write"] / TURNS)
    hold("gateway: system calls a frame in a read of its own", of_frames.total() / FRAMES)


async def a_turn(gateway: Process) -> None:
    async with chatting(gateway) as chat:
        assert is_whole(await chat.end())
