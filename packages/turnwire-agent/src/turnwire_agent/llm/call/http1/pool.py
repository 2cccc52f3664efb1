"""Connections that are used, and those that a next request may use."""

import asyncio
import ssl
import time
from collections.abc import Callable
from typing import Final

import httpx

from turnwire_agent.llm.call.http1.connection import Connection, connect

KEEPALIVE_S: Final = 5.0
"""A connection that nobody used for so long is closed: servers close theirs, too."""

Origin = tuple[str, str, int]
"""Scheme, host and port."""


class Pool:
    """Hands out connections.

    Args:
        connections: Most that are used at one time.
        idle_connections: Most that are kept for a next request.
        tls: For `https`.
        clock: Seconds, from any time on.

    """

    def __init__(
        self,
        connections: int,
        idle_connections: int,
        tls: ssl.SSLContext,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = connections
        self._room = asyncio.Semaphore(connections)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._most_idle = idle_connections
        self._tls = tls
        self._clock = clock
        self._idle: dict[Connection, tuple[Origin, float]] = {}
        """The one that was used last is the last."""
        self._used: set[Connection] = set()
        self._timer: asyncio.TimerHandle | None = None

    async def take(
        self, origin: Origin, connect_s: float | None, pool_s: float | None
    ) -> Connection:
        """Return a connection, an idle one or a new one. `give` or `drop` ends its use.

        Raises:
            httpx.PoolTimeout: No more may be used, and none gets free in time.
            httpx.ConnectError: There is none.
            httpx.ConnectTimeout: Not in time.

        """
        self._enter(asyncio.get_running_loop())
        try:
            async with asyncio.timeout(pool_s):
                await self._room.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout("no connection is free") from None
        try:
            scheme, host, port = origin
            connection = self._kept(origin) or await connect(
                host, port, self._tls if scheme == "https" else None, connect_s
            )
        except BaseException:
            self._room.release()
            raise
        self._used.add(connection)
        return connection

    def give(self, connection: Connection, origin: Origin) -> None:
        """Keep a connection that nobody uses any more."""
        if connection not in self._used:
            return
        self._stop_using(connection)
        self._close_old()
        if connection.is_stale or not self._most_idle:
            connection.abort()
            return
        while len(self._idle) >= self._most_idle:
            self._close(next(iter(self._idle)))
        self._idle[connection] = origin, self._clock()
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEEPALIVE_S, self._look)

    def drop(self, connection: Connection) -> None:
        """Close a connection that is used."""
        if connection in self._used:
            self._stop_using(connection)
            connection.abort()

    async def aclose(self) -> None:
        """Close all connections, and wait until their sockets are closed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in list(self._used):
            self.drop(connection)
        for connection in list(self._idle):
            self._close(connection)
        await asyncio.sleep(0)

    def _enter(self, loop: asyncio.AbstractEventLoop) -> None:
        """Forget what another event loop had: it is closed, and its connections with it."""
        if self._loop is not loop:
            if self._loop is not None and not self._loop.is_closed():
                raise RuntimeError("a client of HTTP is used in one event loop at a time")
            self._loop, self._timer = loop, None
            self._idle.clear()
            self._used.clear()
            self._room = asyncio.Semaphore(self._most)

    def _kept(self, origin: Origin) -> Connection | None:
        """Take the idle connection that was used last."""
        self._close_old()
        for connection in reversed(self._idle):
            if self._idle[connection][0] == origin:
                del self._idle[connection]
                return connection
        return None

    def _close_old(self) -> None:
        until = self._clock() - KEEPALIVE_S
        for connection, (_, used_at) in list(self._idle.items()):
            if used_at <= until or connection.is_stale:
                self._close(connection)

    def _look(self) -> None:
        """Close what is old, though nobody asks for a connection."""
        self._timer = None
        self._close_old()
        if self._idle:
            self._timer = asyncio.get_running_loop().call_later(KEEPALIVE_S, self._look)

    def _close(self, connection: Connection) -> None:
        del self._idle[connection]
        connection.abort()

    def _stop_using(self, connection: Connection) -> None:
        self._used.discard(connection)
        self._room.release()
