"""The HTTP client of the gateway for the control plane and the key set, not for the agent."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, cast

import httpx
from msgspec import Struct

from turnwire import __version__

_KEPT_S: Final = 4.0
"""How long an unused connection is kept. Many servers close theirs after five seconds; with a
shorter time here, no request meets a connection that the server is closing."""


class Answer(Struct, frozen=True):
    status: int
    body: bytes | None
    """None: the body is too long."""


class NoAnswerError(Exception):
    """There was no answer in time. The text may be logged: it holds nothing of the request."""


class HttpClient:
    """Sends `GET` requests, each once.

    It does not retry, follow redirects, use proxies of the environment, keep cookies, or accept
    compressed bodies. It opens connections with the first request. Its owner calls `aclose`.
    """

    def __init__(
        self, *, timeout_s: float, connections: int, tls: ssl.SSLContext | None = None
    ) -> None:
        self._timeout_s = timeout_s
        self._connections = connections
        self._tls = tls
        self._client: httpx.AsyncClient | None = None

    async def get(self, url: str, headers: Mapping[str, str], *, max_bytes: int) -> Answer:
        """Send one request. `Answer.body` is None if the body has more than `max_bytes` bytes.

        Raises:
            NoAnswerError: there is no answer in time, or the connection fails.

        """
        if self._client is None:
            self._client = self._open(url)
        try:
            async with asyncio.timeout(self._timeout_s):
                return await _get(self._client, url, headers, max_bytes)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
            # Without the text of `exc`, which may hold what was sent.
            raise NoAnswerError(type(exc).__name__) from exc

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open(self, url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",  # an uncompressed body cannot grow when it is read
                "user-agent": f"turnwire/{__version__}",
            },
            # Else a cookie for one user would be sent with the request of the next user.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            follow_redirects=False,
            trust_env=False,
            verify=self._tls_context(url),
            timeout=None,  # noqa: S113 (`get` has one for the whole exchange)
            limits=httpx.Limits(
                max_connections=self._connections,
                max_keepalive_connections=self._connections,
                keepalive_expiry=_KEPT_S,
            ),
        )

    def _tls_context(self, url: str) -> ssl.SSLContext:
        """The given context, else one with the system's CAs; without any for `http:` URLs."""
        if self._tls is None and url.lower().startswith("https:"):
            self._tls = ssl.create_default_context()
        return self._tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _get(
    client: httpx.AsyncClient, url: str, headers: Mapping[str, str], max_bytes: int
) -> Answer:
    async with client.stream("GET", url, headers=headers) as response:
        body = b""
        # The declared type of `aiter_raw` is wider than what it returns.
        pieces = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
        async with aclosing(pieces):
            async for piece in pieces:
                body += piece
                if len(body) > max_bytes:
                    return Answer(response.status_code, None)
        return Answer(response.status_code, body)
