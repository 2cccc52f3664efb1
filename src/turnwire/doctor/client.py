"""The doctor's HTTP client. It follows no redirect and uses no proxy of the environment."""

import asyncio
import math
import ssl
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from urllib.parse import quote, urlsplit

import httpx
from msgspec import Struct

from turnwire import __version__
from turnwire.doctor.capture import Capture, Piece

CHAT_ID = "turnwire-doctor"
_CONNECT_S = 10.0


class CannotRunError(Exception):
    """The checkup cannot run. The text says why, and holds no secret."""


class NoAnswerError(CannotRunError):
    """The connection was refused or broke, or the answer is no HTTP; or a subclass of this."""


class LateError(NoAnswerError):
    """No answer in time, although the connection was accepted."""


class NoConnectionError(NoAnswerError):
    """The connection was not accepted, so that nothing was sent."""


class BadTlsError(Exception):
    """The certificate is not trusted, or the TLS handshake failed."""


class Target(Struct, frozen=True):
    """The gateway to check, and the session, token and origin of the requests."""

    url: str
    session: str
    token: str
    origin: str | None = None
    ca_file: str | None = None
    within_s: float = 30.0

    @property
    def chat_path(self) -> str:
        return f"{self.session_path}/chat"

    @property
    def history_path(self) -> str:
        return f"{self.session_path}/messages?limit=1"

    @property
    def session_path(self) -> str:
        return f"/api/sessions/{quote(self.session, safe='')}"


class Stream(Struct, frozen=True):
    """An open response. `read` adds to `capture`; it may be called several times."""

    response: httpx.Response
    capture: Capture
    pieces: AsyncIterator[bytes]

    async def read_body(self) -> httpx.Response:
        """Read the whole body, which has to be short. Returns the response.

        Raises:
            NoAnswerError: the body breaks off, is invalid, or does not end in time.

        """
        try:
            async with asyncio.timeout(_CONNECT_S):
                await self.response.aread()
        except (TimeoutError, httpx.RequestError) as exc:
            path, reason = self.response.request.url.path, type(exc).__name__
            status = self.response.status_code
            raise NoAnswerError(f"{status}, but no whole answer to {path}: {reason}") from exc
        return self.response

    async def read(self, until_kind: str, within_s: float, *, silence_s: float = math.inf) -> None:
        """Read to the end, a record of `until_kind`, a silence of `silence_s`, or `within_s`."""
        loop, capture = asyncio.get_running_loop(), self.capture
        try:
            deadline = loop.time() + within_s
            async with asyncio.timeout_at(min(deadline, loop.time() + silence_s)) as limit:
                async for data in self.pieces:
                    capture.pieces.append(Piece(loop.time(), data))
                    capture.__dict__.pop("records", None)
                    if until_kind in capture.kinds:
                        return
                    limit.reschedule(min(deadline, loop.time() + silence_s))
        except TimeoutError:
            return
        except httpx.RequestError:
            capture.is_broken = True
        capture.ended_at = loop.time()


class Client:
    """HTTP requests of one user to one ingress."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.has_answer = False
        """Whether any request was answered so far."""
        self._client = httpx.AsyncClient(
            base_url=target.url,
            follow_redirects=False,
            trust_env=False,
            verify=self._tls_context(),
            timeout=httpx.Timeout(_CONNECT_S, read=None),
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"user-agent": f"turnwire-doctor/{__version__}"},
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def exchange(
        self, method: str, path: str, headers: Mapping[str, str], body: object = None
    ) -> httpx.Response:
        """Send a request and read the whole response.

        Raises:
            BadTlsError: the certificate or the handshake is bad.
            NoAnswerError: there is no whole answer.

        """
        async with self.open_response(method, path, headers, body) as stream:
            return await stream.read_body()

    def prompt(self, text: str, request_id: str) -> AbstractAsyncContextManager[Stream]:
        """Send a prompt, which begins a turn. The connection closes at the end of the block."""
        message = {
            "id": uuid.uuid4().hex,
            "role": "user",
            "parts": [{"type": "text", "text": text}],
        }
        body = {"id": CHAT_ID, "trigger": "submit-message", "messages": [message]}
        headers = {**self.bearer(), "x-request-id": request_id, "accept": "text/event-stream"}
        if self.target.origin is not None:
            headers["origin"] = self.target.origin
        return self.open_response(
            "POST", f"{self.target.chat_path}?onDisconnect=abort", headers, body
        )

    def resume(self) -> AbstractAsyncContextManager[Stream]:
        return self.open_response("GET", f"{self.target.chat_path}/{CHAT_ID}/stream", self.bearer())

    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.target.token}"}

    @asynccontextmanager
    async def open_response(
        self, method: str, path: str, headers: Mapping[str, str], body: object = None
    ) -> AsyncIterator[Stream]:
        """Send a request and wait for the head of the response.

        Raises:
            BadTlsError: the certificate or the handshake is bad.
            NoAnswerError: there is no answer.

        """
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        request = self._client.build_request(
            method, path, headers={"accept-encoding": "gzip", **headers}, json=body
        )
        try:
            async with asyncio.timeout(self.target.within_s):
                response = await self._client.send(request, stream=True)
        except TimeoutError as exc:
            path = path.partition("?")[0]
            raise LateError(f"no answer to {path} in {self.target.within_s:g} s") from exc
        except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
            if _is_tls_error(exc):
                raise BadTlsError(str(exc)) from exc
            reason = str(exc) or type(exc).__name__
            raise NoConnectionError(f"cannot connect to {self.target.url}: {reason}") from exc
        except (httpx.RequestError, httpx.InvalidURL) as exc:
            path = path.partition("?")[0]
            raise NoAnswerError(f"no answer to {path}: {type(exc).__name__}") from exc
        self.has_answer = True
        try:
            yield Stream(response, Capture(sent_at, loop.time()), response.aiter_bytes())
        finally:
            await response.aclose()

    async def alpn_protocol(self) -> str | None:
        """The ALPN protocol that the ingress selects from `h2` and `http/1.1`; None without TLS.

        Raises:
            BadTlsError: the certificate or the handshake is bad.
            NoAnswerError: the connection is not accepted, or breaks.

        """
        url = urlsplit(self.target.url)
        if url.scheme != "https":
            return None
        context = self._tls_context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        try:
            async with asyncio.timeout(_CONNECT_S):
                address = (url.hostname, url.port or 443)
                _, writer = await asyncio.open_connection(*address, ssl=context)
        except ssl.SSLError as exc:
            raise BadTlsError(f"where HTTP/2 is offered: {exc}") from exc
        except OSError as exc:
            reason = type(exc).__name__
            raise NoConnectionError(f"no TLS where HTTP/2 is offered: {reason}") from exc
        try:
            selected: str | None = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        finally:
            writer.close()
        return selected or "http/1.1"

    def _tls_context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.target.ca_file)
        except (OSError, ValueError) as exc:
            raise CannotRunError(f"{self.target.ca_file}: no certificates in PEM") from exc


def _is_tls_error(exc: BaseException | None) -> bool:
    while exc is not None:
        if isinstance(exc, ssl.SSLError):
            return True
        exc = exc.__cause__ or exc.__context__
    return False
