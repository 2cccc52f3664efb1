"""A gateway is told to stop while many streams are open."""

import asyncio
import signal
from collections import Counter

import pytest

from chaos.asking import answer
from chaos.verdicts import verdict
from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import is_whole
from gateway.served import Served
from gateway.waiting import until

pytestmark = pytest.mark.sockets

EACH = 10


@pytest.mark.fault(
    "SIGTERM, with streams that end within the drain time, and streams that take longer",
    "the first ones complete, the rest end with “Gateway restarting”; no turn is aborted",
)
async def test_sigterm_gives_every_stream_one_end() -> None:
    stopping = asyncio.Event()

    async def script(line: Line) -> None:
        await begin_only(line)
        if "/ends/" in line.path:
            await stopping.wait()
            await line.say(frames.delta(" again"), frames.finalize())

    async with ScriptedAgent(script) as agent, Served(agent.url(), drain_s=1.5) as gateway:
        asked = [
            asyncio.create_task(answer(gateway, session=session))
            for session in ("ends", "hangs")
            for _ in range(EACH)
        ]
        await until(lambda: sum(bool(line.of_type("prompt")) for line in agent.lines) == 2 * EACH)
        gateway.signal(signal.SIGTERM)
        stopping.set()
        bodies = [await each for each in asked]
        code = await gateway.ended()

        seen = Counter(map(verdict, bodies))
        assert seen == {"completed": EACH, "draining": EACH}
        assert all(map(is_whole, bodies))
        assert gateway.logged_outcomes() == seen
        assert all(not line.aborts for line in agent.lines)
        assert code == -signal.SIGTERM
