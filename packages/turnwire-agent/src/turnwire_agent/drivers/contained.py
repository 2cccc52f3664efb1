"""Code of an agent that wants to end the process, as `sys.exit` does, ends its own turn alone."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

Returned = TypeVar("Returned")


class ProcessEndError(Exception):
    """Raised in place of what would end the process, with the traceback of that."""


async def contained(running: Awaitable[Returned]) -> Returned:
    """Await what may raise anything. asyncio lets some exceptions of a task out of its event loop.

    Raises:
        CancelledError: this was cancelled.
        ProcessEndError: for any other exception that is no `Exception`.
        Exception: as it was raised.

    """
    try:
        return await running
    except (Exception, asyncio.CancelledError, GeneratorExit):
        raise
    except BaseException as error:  # noqa: BLE001 - whoever waits has it as an error
        ended = ProcessEndError(type(error).__name__).with_traceback(error.__traceback__)
    raise ended
