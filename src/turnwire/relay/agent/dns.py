"""DNS cache: one look-up for all dials at the same time, and for `LOOKUP_S` seconds after it."""

import asyncio
import functools
import ipaddress
import socket
from typing import Final

from aiohappyeyeballs import AddrInfoType

LOOKUP_S: Final = 30.0
"""Seconds for which the addresses of a name are cached."""

AGAIN_S: Final = 1.0
"""Least seconds between two look-ups of a name while none of its addresses answers."""

_NAMES_MAX: Final = 64


class Addresses:
    """The addresses of recently dialled names."""

    def __init__(self) -> None:
        self._lookups: dict[tuple[str, int], tuple[float, asyncio.Task[list[AddrInfoType]]]] = {}

    def __len__(self) -> int:
        return len(self._lookups)

    async def of(self, host: str, port: int) -> list[AddrInfoType]:
        """Return all addresses of a name, in the resolver's order.

        Raises:
            OSError: the look-up failed. Failures are not cached.
            UnicodeError: IDNA cannot encode the name.

        """
        loop = asyncio.get_running_loop()
        started_at, lookup = self._lookups.get((host, port), (0.0, None))
        if lookup is None or started_at + LOOKUP_S <= loop.time():
            if len(self._lookups) >= _NAMES_MAX:
                self._lookups.clear()
            lookup = loop.create_task(_resolve(host, port))
            self._lookups[host, port] = (loop.time(), lookup)
            lookup.add_done_callback(functools.partial(self._on_lookup_done, host, port))
        # Shielded: the caller may be cancelled while other dials wait for the same look-up.
        return await asyncio.shield(lookup)

    def forget(self, host: str, port: int) -> None:
        """Drop the addresses of a name after a failed dial: the name may have new ones."""
        started_at, _ = self._lookups.get((host, port), (float("inf"), None))
        if started_at + AGAIN_S <= asyncio.get_running_loop().time():
            del self._lookups[host, port]

    def _on_lookup_done(
        self, host: str, port: int, lookup: asyncio.Task[list[AddrInfoType]]
    ) -> None:
        """Drop a failed look-up from the cache, also if all its waiters were cancelled."""
        failed = lookup.cancelled() or lookup.exception() is not None
        _, latest = self._lookups.get((host, port), (0.0, None))
        if failed and latest is lookup:
            del self._lookups[host, port]


@functools.lru_cache(maxsize=_NAMES_MAX)
def is_literal(host: str) -> bool:
    """Whether a host is an IP address, which needs no look-up."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _resolve(host: str, port: int) -> list[AddrInfoType]:
    loop = asyncio.get_running_loop()
    return list[AddrInfoType](await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))
