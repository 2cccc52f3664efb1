"""Names to addresses: looked up once for all who ask at the same time, and for a while after."""

import asyncio
import functools
import ipaddress
import socket
from typing import Final

from aiohappyeyeballs import AddrInfoType

LOOKUP_S: Final = 30.0
"""How long a name's addresses are good for."""

AGAIN_S: Final = 1.0
"""From one look-up of a name to the next, at least, while none of its addresses answers."""

_NAMES_MAX: Final = 64


class Addresses:
    """The addresses of the names that were dialled of late."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], tuple[float, asyncio.Task[list[AddrInfoType]]]] = {}

    def __len__(self) -> int:
        return len(self._known)

    async def of(self, host: str, port: int) -> list[AddrInfoType]:
        """Every address of a name, in the resolver's order.

        Raises:
            OSError: the look-up failed. Failures are not remembered.
            UnicodeError: it is a name that IDNA cannot encode.

        """
        loop = asyncio.get_running_loop()
        since, looking = self._known.get((host, port), (0.0, None))
        if looking is None or since + LOOKUP_S <= loop.time():
            if len(self._known) >= _NAMES_MAX:
                self._known.clear()
            looking = loop.create_task(_look_up(host, port))
            self._known[host, port] = (loop.time(), looking)
            looking.add_done_callback(functools.partial(self._looked, host, port))
        # Shielded: whoever began the look-up may leave, and others wait for it.
        return await asyncio.shield(looking)

    def forget(self, host: str, port: int) -> None:
        """These led nowhere: the name may have moved, so whoever comes next looks it up anew."""
        since, _ = self._known.get((host, port), (float("inf"), None))
        if since + AGAIN_S <= asyncio.get_running_loop().time():
            del self._known[host, port]

    def _looked(self, host: str, port: int, looking: asyncio.Task[list[AddrInfoType]]) -> None:
        """Forget a failure, also one that nobody waited for to the end."""
        failed = looking.cancelled() or looking.exception() is not None
        _, latest = self._known.get((host, port), (0.0, None))
        if failed and latest is looking:
            del self._known[host, port]


@functools.lru_cache(maxsize=_NAMES_MAX)
def is_literal(host: str) -> bool:
    """Whether a host is an address, for which no look-up is needed."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _look_up(host: str, port: int) -> list[AddrInfoType]:
    loop = asyncio.get_running_loop()
    return list[AddrInfoType](await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM))
