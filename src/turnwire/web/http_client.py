"""The gateway's one HTTP client, for what it asks beside the agent."""

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
"""How long an unused connection is kept: less than the five seconds that many servers keep it,
which might else close it while a question is on its way."""


class Answer(Struct, frozen=True):
    status: int
    body: bytes | None
    """None: it is too long."""


class NoAnswerError(Exception):
    """There was none in time. Its text is fit for a log: nothing of what was sent is in it."""


class HttpClient:
    """Asks, once: no retry, no redirect, no proxy of the environment, no cookie, no packed body.

    Opens connections when asked for the first time; whoever made it closes it.
    """

    def __init__(
        self, *, within_s: float, connections: int, tls: ssl.SSLContext | None = None
    ) -> None:
        self._within_s = within_s
        self._connections = connections
        self._tls = tls
        self._client: httpx.AsyncClient | None = None

    async def get(self, url: str, headers: Mapping[str, str], *, most_bytes: int) -> Answer:
        """Ask for a URL.

        Raises:
            NoAnswerError: there is no answer.

        """
        if self._client is None:
            self._client = self._open(url)
        try:
            async with asyncio.timeout(self._within_s):
                return await _get(self._client, url, headers, most_bytes)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as exc:
            raise NoAnswerError(type(exc).__name__) from exc  # its text may hold what was sent

    async def aclose(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open(self, url: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            headers={
                "accept": "application/json",
                "accept-encoding": "identity",  # what is not unpacked cannot swell
                "user-agent": f"turnwire/{__version__}",
            },
            # Else one user's cookie would go along with the next one's question.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
            follow_redirects=False,
            trust_env=False,
            verify=self._context(url),
            timeout=None,  # noqa: S113 (all of it together has one, in `get`)
            limits=httpx.Limits(
                max_connections=self._connections,
                max_keepalive_connections=self._connections,
                keepalive_expiry=_KEPT_S,
            ),
        )

    def _context(self, url: str) -> ssl.SSLContext:
        """The system's authorities unless others were given; none if not needed."""
        if self._tls is None and url.lower().startswith("https:"):
            self._tls = ssl.create_default_context()
        return self._tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


async def _get(
    client: httpx.AsyncClient, url: str, headers: Mapping[str, str], most_bytes: int
) -> Answer:
    async with client.stream("GET", url, headers=headers) as response:
        body = b""
        # The library says less of it than it is.
        pieces = cast("AsyncGenerator[bytes, None]", response.aiter_raw())
        async with aclosing(pieces):
            async for piece in pieces:
                body += piece
                if len(body) > most_bytes:
                    return Answer(response.status_code, None)
        return Answer(response.status_code, body)
