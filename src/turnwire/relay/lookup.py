"""Names to addresses: looked up once for all who ask at the same time, and for a while after."""

import asyncio
import ipaddress
import socket
from typing import Final

from aiohappyeyeballs import AddrInfoType

LOOKUP_S: Final = 30.0
"""How long a name's addresses are good for."""

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
        until, looking = self._known.get((host, port), (0.0, None))
        if looking is None or until <= loop.time():
            if len(self._known) >= _NAMES_MAX:
                self._known.clear()
            looking = loop.create_task(_look_up(host, port))
            self._known[host, port] = (loop.time() + LOOKUP_S, looking)
        try:
            # Shielded: whoever began the look-up may leave, and others wait for it.
            return await asyncio.shield(looking)
        except (OSError, UnicodeError):
            self._known.pop((host, port), None)
            raise


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
