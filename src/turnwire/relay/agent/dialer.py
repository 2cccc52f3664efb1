"""Dial the agent: DNS, TCP, TLS. One dial per request, without retry and without proxy."""

import asyncio
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, TypeVar

from aiohappyeyeballs import AddrInfoType, start_connection
from msgspec import Struct

from turnwire.relay.agent.dns import Addresses, is_literal
from turnwire.relay.agent.failures import DialError, DialFailure
from turnwire.relay.memory_budget import Budget
from turnwire.relay.rounds import Rounds
from turnwire.relay.tcp import watch_peer

_NEXT_ADDRESS_S: Final = 0.25
"""Seconds until the next address is tried beside one that does not answer (RFC 8305)."""


class Address(Struct, frozen=True):
    """Where a server listens."""

    host: str
    port: int
    is_tls: bool


class AgentSocket(asyncio.Protocol, ABC):
    """The transport's side of a socket: it gets the callbacks of the loop."""

    @abstractmethod
    def abort(self) -> None:
        """Close at once, without a callback of ours. The socket may be closed already."""


Socket = TypeVar("Socket", bound=AgentSocket)


class Dialler:
    """Opens sockets to agents, for every transport. It caches DNS look-ups, and nothing else."""

    def __init__(
        self,
        *,
        user_timeout_s: float,
        tls: ssl.SSLContext | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._user_timeout_s = user_timeout_s
        self._tls = tls
        self._addresses = Addresses()
        self.rounds = Rounds()

    async def dial(self, address: Address, new_socket: Callable[[], Socket]) -> Socket:
        """Connect, and return what `new_socket` made for the connection.

        Raises:
            DialError: DNS, TCP or TLS failed.

        """
        host, port = address.host, address.port
        sockets: list[Socket] = []

        def connection() -> Socket:
            sockets.append(new_socket())
            return sockets[-1]

        try:
            addresses = [] if is_literal(host) else await self._addresses.of(host, port)
        except (OSError, UnicodeError) as exc:
            raise DialError(DialFailure.DNS) from exc
        tls = self._context() if address.is_tls else None
        try:
            return await self._connect(connection, host, port, addresses, tls)
        except (DialError, asyncio.CancelledError):  # CancelledError: the dial took too long
            self._addresses.forget(host, port)
            # If the connection was made meanwhile, uvloop closes its socket without a callback.
            for made in sockets:
                made.abort()
            raise

    async def _connect(
        self,
        connection: Callable[[], Socket],
        host: str,
        port: int,
        addresses: list[AddrInfoType],
        tls: ssl.SSLContext | None,
    ) -> Socket:
        """Connect to the address that answers first; one that drops packets causes no long wait."""
        name = host if tls else None
        loop = asyncio.get_running_loop()
        try:
            if addresses:
                sock = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS_S)
                transport, made = await loop.create_connection(
                    connection, sock=sock, ssl=tls, server_hostname=name
                )
            else:
                transport, made = await loop.create_connection(
                    connection, host, port, ssl=tls, server_hostname=name
                )
        except ssl.SSLError as exc:
            raise DialError(DialFailure.TLS) from exc
        except OSError as exc:
            raise DialError(DialFailure.CONNECT) from exc
        watch_peer(transport.get_extra_info("socket"), self._user_timeout_s)
        return made

    def _context(self) -> ssl.SSLContext:
        """Return the TLS context. It verifies certificates, by default with the system's CAs."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls
