"""Waiting for facts that must be asked for."""

import asyncio
from collections.abc import Awaitable, Callable


async def told(fact: Callable[[], Awaitable[object]], within_s: float = 10.0) -> None:
    """Wait until an answer is true; fail if it is not in time."""
    async with asyncio.timeout(within_s):
        while not await fact():  # noqa: ASYNC110 (what is asked has no event)
            await asyncio.sleep(0.02)
