"""Waiting for a fact instead of sleeping for a while."""

import asyncio
from collections.abc import Callable
from typing import Any

PATIENCE_S = 45.0
"""How long a fact is waited for. It decides when to give up, and nothing else: a busy machine
stretches all times. What must not come first in a test takes a minute or more there."""


async def until(fact: Callable[[], object], within_s: float = PATIENCE_S) -> None:
    """Wait until something is so; fail if it is not in time."""
    async with asyncio.timeout(within_s):
        while not fact():  # noqa: ASYNC110 (facts about sockets have no event)
            await asyncio.sleep(0.002)


async def closed(port: int) -> None:
    """Wait until no connection of this loop, from or to a port, is open any more."""
    await until(lambda: not _open("sockname", port) + _open("peername", port))


async def open_to(port: int, count: int, within_s: float = PATIENCE_S) -> None:
    """Wait until so many connections of this loop to a port are open."""
    await until(lambda: _open("peername", port) == count, within_s)


def _open(end: str, port: int) -> int:
    loop: Any = asyncio.get_running_loop()
    transports = [each for each in list(loop._transports.values()) if each._sock is not None]
    return [(each.get_extra_info(end) or ("", 0))[1] for each in transports].count(port)
