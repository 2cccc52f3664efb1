"""Wakes the application when a part of a request, or the end of its client, has come."""

import asyncio


class MessageEvent:
    """What uvicorn needs of an `asyncio.Event`, which keeps 760 bytes for waiters that nobody has.

    Each open stream has one, and hardly any is ever waited for.
    """

    __slots__ = ("_is_set", "_waiters")

    def __init__(self) -> None:
        self._is_set = False
        self._waiters: tuple[asyncio.Future[None], ...] = ()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        for each in self._waiters:
            if not each.done():
                each.set_result(None)

    def clear(self) -> None:
        self._is_set = False

    async def wait(self) -> None:
        """Return once it is set. It may be cleared again by then."""
        if not self._is_set:
            waiter = asyncio.get_running_loop().create_future()
            self._waiters += (waiter,)
            try:
                await waiter
            finally:
                self._waiters = tuple(each for each in self._waiters if each is not waiter)
