"""The HTTP library's requests over these connections, without proxies."""

from typing import Final

import h11
import httpx

from turnwire_agent.llm.call.http1.connection import Connection
from turnwire_agent.llm.call.http1.framing import Framing, FramingError, framing_of
from turnwire_agent.llm.call.http1.pool import Origin, Pool

HEAD_BYTES_MAX: Final = 100 * 1024
"""Of the head of a response."""
_PORTS: Final = {"http": 80, "https": 443}
_SWITCHING: Final = 101
_CUT: Final = "the server closed the connection before its response"


class Transport(httpx.AsyncBaseTransport):
    """Sends requests. Their content is sent at once.

    Args:
        connections: Most that are used at one time.
        idle_connections: Most that are kept for a next request.

    """

    def __init__(self, connections: int, idle_connections: int) -> None:
        tls = httpx.create_ssl_context(trust_env=False)
        tls.set_alpn_protocols(["http/1.1"])
        self._pool = Pool(connections, idle_connections, tls)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, and return the head of its response. The body comes as it is read."""
        url = request.url
        if url.scheme not in _PORTS:
            raise httpx.UnsupportedProtocol(f"no scheme of HTTP: {url.scheme!r}")
        content = await request.aread()
        timeouts = request.extensions.get("timeout", {})
        origin = url.scheme, url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme]
        connection = await self._pool.take(origin, timeouts.get("connect"), timeouts.get("pool"))
        try:
            exchange = _Exchange(connection, timeouts.get("read"))
            await exchange.send(request, content, timeouts.get("write"))
            response = await exchange.head()
            framing = framing_of(request.method.encode(), response.status_code, response.headers)
        except BaseException:
            self._pool.drop(connection)
            raise
        keeps = _keeps(response) and b"close" not in _tokens(request.headers.raw)
        body = _Body(self._pool, connection, origin, framing, exchange, keeps=keeps)
        return httpx.Response(
            response.status_code,
            headers=list(response.headers),
            stream=body,
            extensions={
                "http_version": b"HTTP/" + response.http_version,
                "reason_phrase": response.reason,
            },
        )

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Exchange:
    """A request and the head of its response."""

    def __init__(self, connection: Connection, read_s: float | None) -> None:
        self._connection = connection
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES_MAX)
        self.read_s = read_s
        self.rest = b""
        """What came behind the head, with it."""

    async def send(self, request: httpx.Request, content: bytes, write_s: float | None) -> None:
        try:
            events: list[h11.Event] = [
                h11.Request(
                    method=request.method.encode(),
                    target=request.url.raw_path,
                    headers=request.headers.raw,
                )
            ]
            if content:
                events.append(h11.Data(content))
            events.append(h11.EndOfMessage())
            data = b"".join(self._http.send(event) or b"" for event in events)
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        try:
            await self._connection.write(data, write_s)
        except httpx.WriteError:  # a server that takes no more of a request may have said why
            if not self._connection.is_stale:
                raise

    async def head(self) -> h11.Response:
        """Read the head; those of interim responses are skipped."""
        while True:
            try:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    self._http.receive_data(await self._connection.read(self.read_s))
                    continue
            except h11.RemoteProtocolError as error:
                raise httpx.RemoteProtocolError(str(error)) from error
            if isinstance(event, h11.Response):
                self.rest = self._http.trailing_data[0]
                return event
            if not isinstance(event, h11.InformationalResponse) or event.status_code == _SWITCHING:
                raise httpx.RemoteProtocolError(_CUT)


class _Body(httpx.AsyncByteStream):
    """The body of a response. Its connection is kept or closed as soon as it is known which."""

    def __init__(
        self,
        pool: Pool,
        connection: Connection,
        origin: Origin,
        framing: Framing,
        exchange: _Exchange,
        *,
        keeps: bool,
    ) -> None:
        self._pool = pool
        self._connection = connection
        self._origin = origin
        self._framing = framing
        self._read_s = exchange.read_s
        self._data = exchange.rest
        self._keeps = keeps
        self._has_ended = False
        if framing.is_complete:
            self._keeps = keeps and not self._data
            self._end()

    def __aiter__(self) -> "_Body":
        return self

    async def __anext__(self) -> bytes:
        framing = self._framing
        try:
            while not framing.is_complete:
                data, self._data = self._data, b""
                if not data and not (data := await self._connection.read(self._read_s)):
                    framing.end()
                    break
                if piece := framing.feed(data):
                    if framing.is_complete:
                        self._end()
                    return piece
        except FramingError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        self._end()
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self._end()

    def _end(self) -> None:
        """Give the connection up, once: another request may have it by now."""
        if self._has_ended:
            return
        self._has_ended = True
        if self._keeps and self._framing.is_complete and self._framing.is_exact:
            self._pool.give(self._connection, self._origin)
        else:
            self._pool.drop(self._connection)


def _keeps(response: h11.Response) -> bool:
    """Whether the server takes another request on the connection.

    Of two ends of a body, somebody between may have taken the other one (RFC 9112, 6.3).
    """
    names = {name for name, _ in response.headers}
    if {b"transfer-encoding", b"content-length"} <= names:
        return False
    return response.http_version >= b"1.1" and b"close" not in _tokens(response.headers)


def _tokens(headers: object) -> set[bytes]:
    """What the `connection` headers say, in lower case."""
    return {
        token.strip().lower()
        for name, value in headers  # type: ignore[attr-defined] # pairs of bytes
        if name.lower() == b"connection"
        for token in value.split(b",")
    }
