"""The event loop that connections belong to, for tools: those run in a loop of their own."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class HomeLoop:
    """The loop that made it. Connections, locks and credentials of that loop are used in no other.

    Raises:
        RuntimeError: no loop is running.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run it in that loop, and wait for it in any. Who cancels the waiting, cancels it.

        Raises:
            RuntimeError: the loop is closed.
        """
        if asyncio.get_running_loop() is self._loop:
            return await coroutine
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()
            raise
        return await asyncio.wrap_future(future)
