"""Many tasks that want the same thing share one run of it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """One run at a time, of one event loop.

    The run is a task of its own: a caller that is cancelled leaves the run to the others, and a
    token that is on its way is not lost.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[T] | None = None

    async def join(self, run: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the run that is on its way, or else of a new one."""
        task = self._task
        if task is None:
            task = self._task = asyncio.create_task(run())
            task.add_done_callback(self._landed)
        return await asyncio.shield(task)

    async def settled(self) -> None:
        """Wait until no run is on its way. How it ended is the business of its callers."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def _landed(self, task: asyncio.Task[T]) -> None:
        self._task = None
        if not task.cancelled():
            task.exception()  # read here, so that asyncio does not log it when no caller is left
