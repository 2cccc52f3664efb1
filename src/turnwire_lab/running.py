"""Running until Ctrl-C or a signal."""

import asyncio
import signal
from collections.abc import Coroutine


def run(work: Coroutine[None, None, int]) -> int:
    """Run it to its end. A signal to stop is an end too, and no failure."""
    return asyncio.run(_until_stopped(work))


async def _until_stopped(work: Coroutine[None, None, int]) -> int:
    task = asyncio.create_task(work)

    def stop() -> None:
        # Once: a second Ctrl-C would cancel the cleaning up and leave a child behind.
        if not task.cancelling():
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        return await task
    except asyncio.CancelledError:
        return 0
