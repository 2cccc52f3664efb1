"""Dialling the agent: names to addresses, TCP, TLS. One dial a request, no retry, no proxy."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from turnwire.relay.sockets import watch_peer
from turnwire.relay.upstream import DialFailure, Listener, Upstream

LOOKUP_S: Final = 30.0
"""How long a name's addresses are good for."""

_NAMES_MAX: Final = 64
_PORTS: Final = {"ws": 80, "wss": 443}


class DialError(Exception):
    """TCP or TLS failed. What happens after that, the `Listener` is told."""

    def __init__(self, why: DialFailure) -> None:
        super().__init__(why.value)
        self.why = why


class Dialler:
    """Opens connections to agents. Caches look-ups, nothing else."""

    def __init__(
        self, *, frame_bytes: int, user_timeout_s: float, tls: ssl.SSLContext | None = None
    ) -> None:
        self._frame_bytes = frame_bytes
        self._user_timeout_s = user_timeout_s
        self._tls = tls
        self._addresses: dict[tuple[str, int], tuple[float, list[str]]] = {}

    async def dial(
        self,
        url: str,
        headers: Mapping[str, str],
        listener: Listener,
        subprotocols: Sequence[str],
    ) -> Upstream:
        """Connect, and leave the handshake under way.

        Raises:
            DialError: there is no connection.

        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port or _PORTS[parts.scheme]
        tls = self._context() if parts.scheme == "wss" else None

        def connection() -> Upstream:
            return Upstream(
                url, headers, listener, subprotocols=subprotocols, frame_bytes=self._frame_bytes
            )

        try:
            addresses = await self._resolve(host, port)
        except (OSError, UnicodeError) as exc:  # the latter: a name that IDNA cannot encode
            raise DialError(DialFailure.DNS) from exc
        return await self._connect(connection, addresses, port, tls, host)

    async def _connect(
        self,
        connection: Callable[[], Upstream],
        addresses: Sequence[str],
        port: int,
        tls: ssl.SSLContext | None,
        host: str,
    ) -> Upstream:
        """Try the addresses in turn; the first that takes the connection is used."""
        loop = asyncio.get_running_loop()
        failure: DialError | None = None
        for address in addresses:
            try:
                transport, upstream = await loop.create_connection(
                    connection, address, port, ssl=tls, server_hostname=host if tls else None
                )
            except ssl.SSLError as exc:
                failure = DialError(DialFailure.TLS)
                failure.__cause__ = exc
            except OSError as exc:
                failure = DialError(DialFailure.CONNECT)
                failure.__cause__ = exc
            else:
                sock: socket.socket = transport.get_extra_info("socket")
                watch_peer(sock, self._user_timeout_s)
                return upstream
        raise failure or DialError(DialFailure.DNS)

    async def _resolve(self, host: str, port: int) -> list[str]:
        loop = asyncio.get_running_loop()
        known = self._addresses.get((host, port))
        if known is not None and known[0] > loop.time():
            return known[1]
        # A literal address is taken as it is: no look-up is made for it.
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(info[4][0]) for info in found))
        if len(self._addresses) >= _NAMES_MAX:
            self._addresses.clear()
        self._addresses[host, port] = (loop.time() + LOOKUP_S, addresses)
        return addresses

    def _context(self) -> ssl.SSLContext:
        """Certificates are checked, with the system's authorities unless others were given."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls
