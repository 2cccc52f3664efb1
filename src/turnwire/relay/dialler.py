"""Dialling the agent: names to addresses, TCP, TLS. One dial a request, no retry, no proxy."""

import asyncio
import functools
import ssl
from collections.abc import Callable, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from aiohappyeyeballs import AddrInfoType, start_connection

from turnwire.relay.budget import Budget, Hold, uncounted
from turnwire.relay.leaving import DialFailure
from turnwire.relay.lookup import Addresses, is_literal
from turnwire.relay.rounds import Rounds
from turnwire.relay.sockets import watch_peer
from turnwire.relay.upstream import Listener, Upstream

_NEXT_ADDRESS_S: Final = 0.25
"""When the next address of a name is tried beside one that does not answer (RFC 8305)."""

_PORTS: Final = {"ws": 80, "wss": 443}


@functools.lru_cache(maxsize=1024)
def _target(url: str) -> tuple[str, int, bool]:
    """Host, port, and whether by TLS. Parsed once for each URL."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or _PORTS[parts.scheme], parts.scheme == "wss"


class DialError(Exception):
    """TCP or TLS failed. What happens after that, the `Listener` is told."""

    def __init__(self, why: DialFailure) -> None:
        super().__init__(why.value)
        self.why = why


class Dialler:
    """Opens connections to agents. Caches look-ups, nothing else."""

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
        hold: Hold | None = None,
    ) -> Upstream:
        """Connect, and leave the handshake under way. `hold` is told of frames that are not whole.

        Raises:
            DialError: there is no connection.

        """
        host, port, is_safe = _target(url)
        tls = self._context() if is_safe else None

        made: list[Upstream] = []

        def connection() -> Upstream:
            upstream = Upstream(
                url,
                headers,
                listener,
                subprotocols=subprotocols,
                frame_bytes=self._frame_bytes,
                hold=hold or uncounted(),
                rounds=self.rounds,
            )
            made.append(upstream)
            return upstream

        try:
            addresses = [] if is_literal(host) else await self._addresses.of(host, port)
        except (OSError, UnicodeError) as exc:
            raise DialError(DialFailure.DNS) from exc
        try:
            return await self._connect(connection, host, port, addresses, tls)
        except (DialError, asyncio.CancelledError):  # the latter: it took too long
            self._addresses.forget(host, port)
            # Of a connection that was made meanwhile, uvloop closes the socket and tells nobody.
            for upstream in made:
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
        """Connect to whichever address answers first; one that drops packets holds nobody up."""
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
        """Certificates are checked, with the system's authorities unless others were given."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls
