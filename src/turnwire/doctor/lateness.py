"""How late the doctor itself was: on a busy machine all times are longer, and no proxy did it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

TICK_S: Final = 0.02
_NOTABLE_S: Final = 0.005
"""What every machine is late by now and then."""


class Lateness:
    """Each delay of the doctor's own loop, with the time at which it was over."""

    def __init__(self) -> None:
        self._delays: list[tuple[float, float]] = []

    def was(self, at: float, late_s: float) -> None:
        if late_s >= _NOTABLE_S:
            self._delays.append((at, late_s))

    def since(self, began: float) -> tuple[float, float]:
        """The longest delay since then, and all of them together, in seconds."""
        delays = [late_s for at, late_s in self._delays if at >= began]
        return max(delays, default=0.0), sum(delays)


@asynccontextmanager
async def watching(lateness: Lateness) -> AsyncIterator[None]:
    """Watch the loop until the block is left."""
    loop = asyncio.get_running_loop()

    async def tick() -> None:
        while True:
            due = loop.time() + TICK_S
            await asyncio.sleep(TICK_S)
            lateness.was(loop.time(), loop.time() - due)

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()
        await asyncio.wait({ticking})
