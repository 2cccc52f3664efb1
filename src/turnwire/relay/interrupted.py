"""Work that other code may end early: the memory is needed, or the client has left."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Self


class Interruptible:
    """`async with Interruptible(error) as work:` runs its block until the end or `work.end()`.

    This is a class and no generator: an exception that a generator raises would reference itself,
    and with it everything that its task holds.

    Raises:
        Exception: `error`, if `end` was called.

    """

    __slots__ = ("_error", "_timeout")

    def __init__(self, error: Exception) -> None:
        self._error: Exception | None = error
        self._timeout = asyncio.timeout(None)

    def end(self) -> None:
        expire(self._timeout)

    async def __aenter__(self) -> Self:
        await self._timeout.__aenter__()
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        raised: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        error, self._error = self._error, None
        try:
            await self._timeout.__aexit__(error_type, raised, traceback)
        except TimeoutError:
            assert error is not None
            raise error from None
        finally:
            del error  # the exception references this frame: no cycle


def expire(timeout: asyncio.Timeout) -> None:
    """Make the timeout expire now, if it is still active."""
    with suppress(RuntimeError):
        timeout.reschedule(0)
