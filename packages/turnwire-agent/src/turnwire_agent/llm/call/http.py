"""The HTTP library: a request out, the head and the bytes of an answer in."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Final, cast

import httpx

from turnwire_agent import __version__
from turnwire_agent.llm.call.failed_error import FailedError
from turnwire_agent.llm.call.http1.transport import Transport
from turnwire_agent.llm.call.limits import Limits

Client = httpx.AsyncClient

CONNECTIONS: Final = 1000
IDLE_CONNECTIONS: Final = 100

_LAST_PORT: Final = 65535
_ERRORS: Final = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, UnicodeError)
"""All that the library raises for what a server does, or for an address that is none."""


def http_client(*, trust_env: bool = False, connections: int = CONNECTIONS) -> Client:
    """A client for calls of models. One is enough for a process: it keeps connections alive.

    Args:
        trust_env: Whether proxies, certificates and `.netrc` of the environment count. They do not
            unless they are asked for: a variable that was set for another program would see every
            prompt and every key.
        connections: At most, at one time.
    """
    transport = None if trust_env else Transport(connections, IDLE_CONNECTIONS)
    return Client(
        trust_env=trust_env,
        transport=transport,
        limits=httpx.Limits(
            max_connections=connections, max_keepalive_connections=IDLE_CONNECTIONS
        ),
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
    )


class Response:
    """The head of an answer, and its body as it comes."""

    def __init__(self, response: httpx.Response, limits: Limits) -> None:
        self._response = response
        self._limits = limits
        # Not `aiter_raw`, which is the same through two more generators.
        self._chunks = aiter(cast("httpx.AsyncByteStream", response.stream))
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers

    @property
    def head(self) -> bytes:
        """Status line and headers, as they would stand on the wire."""
        response = self._response
        status_line = f"{response.http_version} {response.status_code} {response.reason_phrase}"
        return _head(status_line, response.headers)

    async def chunk(self) -> bytes:
        """More of the body as it was sent, packed or not; empty at its end.

        Raises:
            FailedError: The connection broke, or was silent for too long.
        """
        try:
            return await anext(self._chunks)
        except StopAsyncIteration:
            return b""
        except httpx.TimeoutException:
            failed = FailedError("timeout", f"The server was silent for {self._limits.read_s:g} s.")
        except _ERRORS as error:
            failed = FailedError("truncated", f"The connection broke ({type(error).__name__}).")
        raise failed

    async def aclose(self) -> None:
        """Close the connection, if the body has not ended."""
        with suppress(*_ERRORS):  # it is gone already
            await self._response.aclose()


class Post:
    """A POST of JSON, ready to be sent.

    Raises:
        FailedError: The address is none, or a header cannot be sent.
    """

    def __init__(self, client: Client, url: str, headers: Mapping[str, str], body: bytes) -> None:
        self._client = client
        all_headers = {
            "accept": "text/event-stream",
            # What packs a stream on its way holds events back.
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": f"turnwire-agent/{__version__}",
            **headers,
        }
        try:
            self._request = client.build_request("POST", url, headers=all_headers, content=body)
        except (*_ERRORS, ValueError, TypeError):
            failed = FailedError("bad-request", "The address of the server is none.")
        else:
            # The library would send a user's name and password in place of the credential.
            if (self._request.url.port or 0) <= _LAST_PORT and not self._request.url.userinfo:
                return
            failed = FailedError("bad-request", "The address of the server cannot be used.")
        raise failed

    @property
    def head(self) -> bytes:
        """Request line and headers, as they would stand on the wire."""
        target = self._request.url.raw_path.decode("ascii", "replace")
        return _head(f"POST {target} HTTP/1.1", self._request.headers)

    async def send(self, limits: Limits) -> Response:
        """Send it, and wait for the head of the answer. Redirects are not followed.

        Raises:
            FailedError: There is none.
        """
        if self._client.is_closed:
            raise FailedError("connection", "The HTTP client is closed.")
        self._request.extensions["timeout"] = httpx.Timeout(
            limits.read_s, connect=limits.connect_s, pool=limits.connect_s
        ).as_dict()
        try:
            # A head that comes by the byte is as bad as none.
            async with asyncio.timeout(limits.connect_s + limits.read_s):
                response = await self._client.send(
                    self._request, stream=True, auth=None, follow_redirects=False
                )
            return Response(response, limits)
        except httpx.ConnectTimeout:
            failed = FailedError("timeout", f"No connection within {limits.connect_s:g} s.")
        except httpx.PoolTimeout:
            failed = FailedError("overloaded", "All our connections are taken.")
        except (httpx.TimeoutException, TimeoutError):
            failed = FailedError("timeout", f"No answer within {limits.read_s:g} s.")
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError):
            failed = FailedError("bad-request", "The request cannot be sent as HTTP.")
        except _ERRORS as error:
            failed = FailedError("connection", f"No connection ({type(error).__name__}).")
        raise failed


def _head(first_line: str, headers: httpx.Headers) -> bytes:
    lines = [first_line.encode("ascii", "replace")]
    lines += [name + b": " + value for name, value in headers.raw]
    return b"\r\n".join(lines) + b"\r\n\r\n"
