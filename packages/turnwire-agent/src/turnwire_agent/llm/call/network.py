"""Connections for the HTTP library, on the event loop's own transports.

A model's answer comes in hundreds of small reads. The library's usual backend makes a timeout, an
event and a cancel scope for each; this one keeps what comes, and wakes whoever waits for it.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

import httpcore
import httpx

READ_BYTES_MAX: Final = 256 * 1024
"""What may wait to be read before the sender has to wait."""
KEEPALIVE_S: Final = 5.0
_EYEBALLS_S: Final = 0.25
"""After which the next address of a host is tried beside the first."""


class Transport(httpx.AsyncBaseTransport):
    """Sends requests over such connections, without proxies.

    Args:
        connections: At most, at one time.
        idle_connections: At most, that are kept for a next request.
    """

    def __init__(self, connections: int, idle_connections: int) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(trust_env=False),
            max_connections=connections,
            max_keepalive_connections=idle_connections,
            keepalive_expiry=KEEPALIVE_S,
            network_backend=Backend(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        sent = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=cast("httpx.AsyncByteStream", request.stream),
            extensions=request.extensions,
        )
        with _errors():
            response = await self._pool.handle_async_request(sent)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_Body(cast("httpx.AsyncByteStream", response.stream)),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class Backend(httpcore.AsyncNetworkBackend):
    """Opens connections. Errors are those of `httpcore`."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the port has it)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> "Stream":
        loop = asyncio.get_running_loop()
        # uvloop's has no such parameter.
        staggered = isinstance(loop, asyncio.BaseEventLoop)
        more: dict[str, Any] = {"happy_eyeballs_delay": _EYEBALLS_S} if staggered else {}
        if local_address is not None:
            more["local_addr"] = (local_address, 0)
        try:
            async with asyncio.timeout(timeout):
                _, protocol = await loop.create_connection(_Incoming, host, port, **more)
        except TimeoutError:
            raise httpcore.ConnectTimeout from None
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        stream = Stream(protocol)
        for option in socket_options or ():
            stream.get_extra_info("socket").setsockopt(*option)
        return stream

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _Incoming(asyncio.Protocol):
    """What came and was not read yet."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport
        self.pieces: list[bytes] = []
        self.size = 0
        self.is_over = False
        """Nothing more comes."""
        self.is_lost = False
        self.error: Exception | None = None
        self.is_paused = False
        """The other end does not read."""
        self._waiter: asyncio.Future[bool] | None = None
        self._due = 0.0
        self._timer: asyncio.TimerHandle | None = None

    async def wait(self, within_s: float | None) -> bool:
        """Until something happens. False: nothing does, in time.

        The timer is set once and looks when it is due what it is due for: a read costs none.
        """
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

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.pieces.append(data)
        self.size += len(data)
        if self.size > READ_BYTES_MAX:
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self.is_over = True
        self._wake()
        # The rest of a request may be on its way. TLS has no half of a connection.
        return self.transport.get_extra_info("ssl_object") is None

    def connection_lost(self, error: Exception | None) -> None:
        self.is_over = self.is_lost = True
        self.error = error
        if self._timer is not None:
            self._timer.cancel()
        self._wake()

    def pause_writing(self) -> None:
        self.is_paused = True

    def resume_writing(self) -> None:
        self.is_paused = False
        self._wake()

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


class Stream(httpcore.AsyncNetworkStream):
    """A connection."""

    def __init__(self, incoming: _Incoming) -> None:
        self._incoming = incoming
        self._is_closed = False

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the port has it)
    ) -> bytes:
        incoming = self._incoming
        while not incoming.pieces:
            if self._is_closed or incoming.error is not None:
                raise httpcore.ReadError(str(incoming.error or "closed"))
            if incoming.is_over:
                return b""
            if not await incoming.wait(timeout):
                raise httpcore.ReadTimeout
        pieces = incoming.pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        incoming.pieces = [data[max_bytes:]] if len(data) > max_bytes else []
        was_full = incoming.size > READ_BYTES_MAX
        incoming.size = max(0, len(data) - max_bytes)
        if was_full and incoming.size <= READ_BYTES_MAX and not incoming.is_lost:
            incoming.transport.resume_reading()
        return data[:max_bytes]

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109 (the port has it)
    ) -> None:
        incoming = self._incoming
        if not buffer:
            return
        self._check_writable()
        incoming.transport.write(buffer)
        while incoming.is_paused:
            if not await incoming.wait(timeout):
                raise httpcore.WriteTimeout
            self._check_writable()

    async def aclose(self) -> None:
        self._is_closed = True
        self._incoming.transport.abort()
        await asyncio.sleep(0)  # then the socket is closed

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109 (the port has it)
    ) -> "Stream":
        incoming = self._incoming
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                transport = await loop.start_tls(
                    incoming.transport, incoming, ssl_context, server_hostname=server_hostname
                )
        except BaseException as error:
            await self.aclose()
            if isinstance(error, TimeoutError):
                raise httpcore.ConnectTimeout from None
            if isinstance(error, OSError):  # those of TLS are, too
                raise httpcore.ConnectError(str(error)) from error
            raise
        if transport is None:
            raise httpcore.ConnectError("closed")
        incoming.transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        incoming = self._incoming
        if info == "is_readable":  # while it is idle: it has ended, or says what nobody asked for
            return incoming.is_over or bool(incoming.pieces)
        name = {"client_addr": "sockname", "server_addr": "peername"}.get(info, info)
        return incoming.transport.get_extra_info(name)

    def _check_writable(self) -> None:
        if self._is_closed or self._incoming.is_lost:
            raise httpcore.WriteError(str(self._incoming.error or "closed"))


class _Body(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _errors():
            async for piece in self._stream:
                yield piece

    async def aclose(self) -> None:
        with _errors():
            await self._stream.aclose()


@contextmanager
def _errors() -> Iterator[None]:
    """Raise an error of `httpcore` as that of `httpx`: both libraries have the same names."""
    try:
        yield
    except Exception as error:
        mapped = getattr(httpx, type(error).__name__, None)
        if type(error).__module__.partition(".")[0] != "httpcore" or mapped is None:
            raise
        raise mapped(str(error)) from error
