"""How late a busy machine makes us: what a promise about time is held against.

The gateway of most tests runs on the test's own loop, so what holds up one holds up the other.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

TICK_S = 0.005


class Lateness:
    """`late.s` is what the loop was late by in all, since it was watched."""

    s = 0.0


@asynccontextmanager
async def lateness() -> AsyncIterator[Lateness]:
    """Watch the loop of the test: `assert took_s - late.s < 0.25`."""
    late = Lateness()
    loop = asyncio.get_running_loop()

    async def tick() -> None:
        while True:
            due = loop.time() + TICK_S
            await asyncio.sleep(TICK_S)
            late.s += max(0.0, loop.time() - due)

    ticking = asyncio.create_task(tick())
    try:
        yield late
    finally:
        ticking.cancel()
        await asyncio.wait({ticking})
