"""A server that is reached by HTTP: the credential, and bounds for what it sends."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

import httpx2

from turnwire_agent.llm.credentials.port import Credential
from turnwire_agent.mcp.settings import Server

UNAUTHORIZED: Final = 401
STREAM: Final = "text/event-stream"


class Authorization(httpx2.Auth):
    """The headers of a credential, asked for before each request; once more after a 401."""

    def __init__(self, credential: Credential) -> None:
        self._credential = credential

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        granted = await self._credential.headers()
        request.headers.update(granted.headers)
        response = yield request
        if response.status_code == UNAUTHORIZED and await self._credential.refused(granted.version):
            granted = await self._credential.headers()
            request.headers.update(granted.headers)
            yield request


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Refuses bodies that are packed, and ends those that are too long.

    The library bounds the events of a stream by itself, and no other body.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, body_bytes: int) -> None:
        self._inner = inner
        self._body_bytes = body_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx2.RemoteProtocolError("A body is packed, though nobody asked for it.")
        if not response.headers.get("content-type", "").lower().startswith(STREAM):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _BoundedStream(response.stream, self._body_bytes)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, body_bytes: int) -> None:
        self._inner = inner
        self._left = body_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._inner:
            self._left -= len(piece)
            if self._left < 0:
                raise httpx2.StreamError("A body is too long.")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


def http_client(server: Server, credential: Credential) -> httpx2.AsyncClient:
    """A client for one server. Proxies and `.netrc` of the environment do not count."""
    inner = httpx2.AsyncHTTPTransport(trust_env=False)
    return httpx2.AsyncClient(
        transport=BoundedTransport(inner, server.bounds.message_bytes),
        auth=Authorization(credential),
        trust_env=False,
        # A stream may be silent between calls; a call has a limit of its own.
        timeout=httpx2.Timeout(server.connect_s, read=None),
    )
