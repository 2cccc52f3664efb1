"""A connection, on the event loop's own transport: a read costs no timer, no lock and no task."""

import asyncio
import ssl
from typing import Any, Final, cast

import httpx

READ_BYTES_MAX: Final = 256 * 1024
"""What may wait to be read before the sender has to wait."""
_EYEBALLS_S: Final = 0.25
"""After which the next address of a host is tried beside the first."""


async def connect(
    host: str, port: int, tls: ssl.SSLContext | None, within_s: float | None
) -> "Connection":
    """Open a connection, with its TLS.

    Raises:
        httpx.ConnectTimeout: It does not stand in time.
        httpx.ConnectError: It does not come about.

    """
    loop = asyncio.get_running_loop()
    more: dict[str, Any] = {} if tls is None else {"ssl": tls, "server_hostname": host}
    if isinstance(loop, asyncio.BaseEventLoop):  # uvloop's has no such parameter
        more["happy_eyeballs_delay"] = _EYEBALLS_S
    try:
        async with asyncio.timeout(within_s):
            _, connection = await loop.create_connection(Connection, host, port, **more)
    except TimeoutError:
        raise httpx.ConnectTimeout("no connection in time") from None
    except (OSError, UnicodeError) as error:  # those of TLS and of names are among them
        raise httpx.ConnectError(str(error)) from error
    return connection


class Connection(asyncio.Protocol):
    """What came and was not read yet, and the way out. One task waits at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport
        self._pieces: list[bytes] = []
        self._size = 0
        self._is_over = False
        """Nothing more comes."""
        self._is_lost = False
        self._error: Exception | None = None
        self._is_paused = False
        """The other end does not read."""
        self._waiter: asyncio.Future[bool] | None = None
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_stale(self) -> bool:
        """Whether no request may be sent: it has ended, or says what nobody asked for."""
        return self._is_over or bool(self._pieces)

    async def read(self, within_s: float | None) -> bytes:
        """Return all that came; empty: nothing comes any more.

        Raises:
            httpx.ReadTimeout: Nothing comes in time.
            httpx.ReadError: The connection broke.

        """
        while not self._pieces:
            if self._error is not None:
                raise httpx.ReadError(str(self._error))
            if self._is_over:
                return b""
            if not await self._wait(within_s):
                raise httpx.ReadTimeout("nothing came in time")
        pieces = self._pieces
        self._pieces = []
        if self._size > READ_BYTES_MAX and not self._is_lost:
            self._transport.resume_reading()
        self._size = 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    async def write(self, data: bytes, within_s: float | None) -> None:
        """Send this.

        Raises:
            httpx.WriteTimeout: The other end does not take it in time.
            httpx.WriteError: The connection broke.

        """
        self._check_writable()
        self._transport.write(data)
        while self._is_paused:
            if not await self._wait(within_s):
                raise httpx.WriteTimeout("the other end does not read")
            self._check_writable()

    def abort(self) -> None:
        """Close it at once. Whoever reads gets no end of a body, but an error."""
        self._error = self._error or ConnectionAbortedError("closed")
        self._transport.abort()

    async def _wait(self, within_s: float | None) -> bool:
        """Until something happens. False: nothing does, in time.

        The timer is set once and looks when it is due what it is due for: a read costs none.
        """
        if self._waiter is not None and not self._waiter.done():
            raise RuntimeError("another task waits for this connection")
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._waiter = waiter
        if within_s is not None:
            self._due = loop.time() + within_s
            if self._timer is None or self._timer.when() > self._due:
                self._set_timer(loop)
        else:
            self._due = 0.0
        try:
            return await waiter
        finally:
            if self._waiter is waiter:
                self._waiter = None

    # --- calls of the event loop -------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > READ_BYTES_MAX:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._is_over = True
        self._wake()
        # The rest of a request may be on its way. TLS has no half of a connection.
        return self._transport.get_extra_info("ssl_object") is None

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_over = self._is_lost = True
        self._error = self._error or exc
        if self._timer is not None:
            self._timer.cancel()
        self._wake()

    def pause_writing(self) -> None:
        self._is_paused = True

    def resume_writing(self) -> None:
        self._is_paused = False
        self._wake()

    # --- inside ------------------------------------------------------------------------------

    def _check_writable(self) -> None:
        if self._is_lost or self._transport.is_closing():
            raise httpx.WriteError(str(self._error or "closed"))

    def _wake(self, *, in_time: bool = True) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(in_time)

    def _set_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_at(self._due, self._look)

    def _look(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        if self._waiter is None or not self._due:
            return
        if loop.time() >= self._due:
            self._wake(in_time=False)
        else:
            self._set_timer(loop)
