"""One run of what many tasks want, and a thread for what blocks."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
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


class OwnThread:
    """Runs functions one after another on one thread, which starts with the first.

    Not the default executor of asyncio: tools that block could take all of its threads, and no
    model could be asked any more.
    """

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)

    async def run(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the call. It runs to its end even if its caller is cancelled."""
        return await asyncio.shield(
            asyncio.wrap_future(self._executor.submit(call, *args, **kwargs))
        )
