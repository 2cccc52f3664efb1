"""How long a reply of a server is worth waiting for.

The time is counted in short steps of the loop. So a loop that hung, and finds the reply and the end
of the time at once when it goes on, takes the reply.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

ANSWER_S: Final = 0.25
"""How long servers may take for a pipeline, in seconds."""

_STEPS: Final = 5


@asynccontextmanager
async def patience() -> AsyncIterator[None]:
    """Give what is done here `ANSWER_S` seconds.

    Raises:
        TimeoutError: it took longer.

    """
    loop = asyncio.get_running_loop()
    steps = 0
    timer: asyncio.TimerHandle

    def step() -> None:
        nonlocal steps, timer
        steps += 1
        if steps < _STEPS:
            timer = loop.call_later(ANSWER_S / _STEPS, step)
        else:
            timeout.reschedule(loop.time())

    async with asyncio.timeout(None) as timeout:
        timer = loop.call_later(ANSWER_S / _STEPS, step)
        try:
            yield
        finally:
            timer.cancel()
