"""Delays of the doctor's own event loop.

On a busy machine all measured times are longer. With these delays, `checks` does not blame a proxy.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

TICK_S: Final = 0.02
_MIN_DELAY_S: Final = 0.005
"""Shorter delays are not recorded: they occur on every machine."""


class Lateness:
    """Each delay of the doctor's own loop, in seconds, with the time of its end."""

    def __init__(self) -> None:
        self._delays: list[tuple[float, float]] = []

    def add(self, at: float, delay_s: float) -> None:
        if delay_s >= _MIN_DELAY_S:
            self._delays.append((at, delay_s))

    def since(self, start: float) -> tuple[float, float]:
        """The longest delay since `start`, and the sum of the delays since then, in seconds."""
        delays = [delay_s for at, delay_s in self._delays if at >= start]
        return max(delays, default=0.0), sum(delays)


@asynccontextmanager
async def measuring(lateness: Lateness) -> AsyncIterator[None]:
    """Record the delays of the running loop in `lateness` until the block ends."""
    loop = asyncio.get_running_loop()

    async def tick() -> None:
        while True:
            due = loop.time() + TICK_S
            await asyncio.sleep(TICK_S)
            lateness.add(loop.time(), loop.time() - due)

    ticks = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticks.cancel()
        await asyncio.wait({ticks})
