"""Waiting for facts that must be asked for."""

import asyncio
from collections.abc import Awaitable, Callable

from gateway.waiting import PATIENCE_S


async def told(fact: Callable[[], Awaitable[object]], within_s: float = PATIENCE_S) -> None:
    """Wait until an answer is true; fail if it is not in time."""
    async with asyncio.timeout(within_s):
        while not await fact():  # noqa: ASYNC110 (what is asked has no event)
            await asyncio.sleep(0.02)
