"""Tasks of a store, and their end."""

import asyncio
from typing import Any, Final

AGAIN_S: Final = 1.0
"""When a task that goes on is cancelled once more, in seconds."""


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks, and wait until they are over. What they raise is dropped.

    A library may take a cancellation for the end of its own time limit. Then the task goes on as if
    nothing had been, and is cancelled again.
    """
    running = {task for task in tasks if not task.done()}
    while running:
        for task in running:
            task.cancel()
        _, running = await asyncio.wait(running, timeout=AGAIN_S)
    for task in tasks:
        if not task.cancelled():
            task.exception()
