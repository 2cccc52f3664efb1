"""Work that somebody else may end: there is no room for it, or nobody waits for it any more."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self


class Interruptible:
    """`async with Interruptible(error) as work:` does this until it is done, or `work.end()`.

    Not made of a generator: what that raises would hold itself, and all that its task has.

    Raises:
        Exception: the one that is given, if it was ended.

    """

    __slots__ = ("_clock", "_raises")

    def __init__(self, raises: Exception) -> None:
        self._raises: Exception | None = raises
        self._clock = asyncio.timeout(None)

    def end(self) -> None:
        expire(self._clock)

    async def __aenter__(self) -> Self:
        await self._clock.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        raises, self._raises = self._raises, None
        try:
            await self._clock.__aexit__(kind, error, traceback)
        except TimeoutError:
            assert raises is not None
            raise raises from None
        finally:
            del raises  # what is raised holds this frame, which may not hold it, too


def expire(clock: asyncio.Timeout) -> None:
    """Have its time be over now, unless it is already."""
    with suppress(RuntimeError):
        clock.reschedule(0)
