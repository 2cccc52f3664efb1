"""An event of the event loop that takes little memory: there are several for each session."""

import asyncio


class LightEvent:
    """As `asyncio.Event`, which keeps a queue of 600 bytes for waiters even if there are none."""

    __slots__ = ("_is_set", "_waiters")

    def __init__(self) -> None:
        self._is_set = False
        self._waiters: tuple[asyncio.Future[None], ...] = ()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        """Wake all who wait; whoever waits later does not have to, until `clear`."""
        self._is_set = True
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def clear(self) -> None:
        self._is_set = False

    async def wait(self) -> None:
        """Return once it is set, at once if it is. Somebody may have cleared it again by then."""
        if self._is_set:
            return
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters = (*self._waiters, waiter)
        try:
            await waiter
        finally:
            self._waiters = tuple(each for each in self._waiters if each is not waiter)
