"""Dial the agent: DNS, TCP, TLS. One dial per request, without retry and without proxy."""

import asyncio
import functools
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from aiohappyeyeballs import AddrInfoType, start_connection

from turnwire.relay.agent.dns import Addresses, is_literal
from turnwire.relay.agent.failures import DialFailure
from turnwire.relay.agent.websocket import Listener, Upstream
from turnwire.relay.memory_budget import Budget, Reservation, unlimited_reservation
from turnwire.relay.rounds import Rounds
from turnwire.relay.tcp import watch_peer

_NEXT_ADDRESS_S: Final = 0.25
"""Seconds until the next address is tried beside one that does not answer (RFC 8305)."""

_PORTS: Final = {"ws": 80, "wss": 443}


@functools.lru_cache(maxsize=1024)
def _target(url: str) -> tuple[str, int, bool]:
    """Return host, port, and whether the URL needs TLS. Cached."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or _PORTS[parts.scheme], parts.scheme == "wss"


class DialError(Exception):
    """DNS, TCP or TLS failed. Later failures go to the `Listener`."""

    def __init__(self, why: DialFailure) -> None:
        super().__init__(why.value)
        self.why = why


class Dialler:
    """Opens connections to agents. It caches DNS look-ups, and nothing else."""

    def __init__(
        self,
        *,
        frame_bytes: int,
        user_timeout_s: float,
        tls: ssl.SSLContext | None = None,
        budget: Budget | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._frame_bytes = frame_bytes
        self._user_timeout_s = user_timeout_s
        self._tls = tls
        self._addresses = Addresses()
        self.rounds = Rounds()

    async def dial(
        self,
        url: str,
        headers: Mapping[str, str],
        listener: Listener,
        subprotocols: Sequence[str],
        reservation: Reservation | None = None,
    ) -> Upstream:
        """Connect, and start the handshake. `reservation` counts incomplete frames.

        The result of the handshake goes to the `listener`.

        Raises:
            DialError: DNS, TCP or TLS failed.

        """
        host, port, is_tls = _target(url)
        tls = self._context() if is_tls else None

        upstreams: list[Upstream] = []

        def connection() -> Upstream:
            upstream = Upstream(
                url,
                headers,
                listener,
                subprotocols=subprotocols,
                frame_bytes=self._frame_bytes,
                reservation=reservation or unlimited_reservation(),
                rounds=self.rounds,
            )
            upstreams.append(upstream)
            return upstream

        try:
            addresses = [] if is_literal(host) else await self._addresses.of(host, port)
        except (OSError, UnicodeError) as exc:
            raise DialError(DialFailure.DNS) from exc
        try:
            return await self._connect(connection, host, port, addresses, tls)
        except (DialError, asyncio.CancelledError):  # CancelledError: the dial took too long
            self._addresses.forget(host, port)
            # If the connection was made meanwhile, uvloop closes its socket without a callback.
            for upstream in upstreams:
                upstream.abort()
            raise

    async def _connect(
        self,
        connection: Callable[[], Upstream],
        host: str,
        port: int,
        addresses: list[AddrInfoType],
        tls: ssl.SSLContext | None,
    ) -> Upstream:
        """Connect to the address that answers first; one that drops packets causes no long wait."""
        name = host if tls else None
        loop = asyncio.get_running_loop()
        try:
            if addresses:
                sock = await start_connection(addresses, happy_eyeballs_delay=_NEXT_ADDRESS_S)
                transport, upstream = await loop.create_connection(
                    connection, sock=sock, ssl=tls, server_hostname=name
                )
            else:
                transport, upstream = await loop.create_connection(
                    connection, host, port, ssl=tls, server_hostname=name
                )
        except ssl.SSLError as exc:
            raise DialError(DialFailure.TLS) from exc
        except OSError as exc:
            raise DialError(DialFailure.CONNECT) from exc
        watch_peer(transport.get_extra_info("socket"), self._user_timeout_s)
        return upstream

    def _context(self) -> ssl.SSLContext:
        """Return the TLS context. It verifies certificates, by default with the system's CAs."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls
