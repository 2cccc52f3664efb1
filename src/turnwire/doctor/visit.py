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
from turnwire.doctor.heard import Heard, Piece

CHAT_ID = "turnwire-doctor"
_DIAL_S = 10.0


class CannotRunError(Exception):
    """There is nothing to examine. The text says why, and holds nothing secret."""


class NoAnswerError(CannotRunError):
    """The connection was refused or broke, or what came is no HTTP; or one of those below."""


class LateError(NoAnswerError):
    """No answer in time, though somebody took the connection."""


class NoConnectionError(NoAnswerError):
    """Nobody took it, so that nothing was sent."""


class BadTlsError(Exception):
    """The certificate, or the handshake."""


class Where(Struct, frozen=True):
    """What is examined, and as whom."""

    url: str
    session: str
    token: str
    origin: str | None = None
    ca_file: str | None = None
    within_s: float = 30.0

    @property
    def chat(self) -> str:
        return f"{self.path}/chat"

    @property
    def history(self) -> str:
        return f"{self.path}/messages?limit=1"

    @property
    def path(self) -> str:
        return f"/api/sessions/{quote(self.session, safe='')}"


class Stream(Struct, frozen=True):
    """A response under way. `heard` grows while `read` runs, which may be called again."""

    response: httpx.Response
    heard: Heard
    pieces: AsyncIterator[bytes]

    async def whole(self) -> httpx.Response:
        """The response, whose body is short, with its body.

        Raises:
            NoAnswerError: it broke off, makes no sense, or does not end.

        """
        try:
            async with asyncio.timeout(_DIAL_S):
                await self.response.aread()
        except (TimeoutError, httpx.RequestError) as exc:
            path, why = self.response.request.url.path, type(exc).__name__
            status = self.response.status_code
            raise NoAnswerError(f"{status}, but no whole answer to {path}: {why}") from exc
        return self.response

    async def read(self, until_kind: str, within_s: float, *, silence_s: float = math.inf) -> None:
        """Read to the end, to a record of this kind, to a silence, or for so long."""
        loop, heard = asyncio.get_running_loop(), self.heard
        try:
            end = loop.time() + within_s
            async with asyncio.timeout_at(min(end, loop.time() + silence_s)) as limit:
                async for data in self.pieces:
                    heard.pieces.append(Piece(loop.time(), data))
                    heard.__dict__.pop("records", None)
                    if until_kind in heard.kinds:
                        return
                    limit.reschedule(min(end, loop.time() + silence_s))
        except TimeoutError:
            return
        except httpx.RequestError:
            heard.broke = True
        heard.ended_at = loop.time()


class Client:
    """One user at one ingress."""

    def __init__(self, where: Where) -> None:
        self.where = where
        self.was_answered = False
        """Whether there was any answer as yet."""
        self._client = httpx.AsyncClient(
            base_url=where.url,
            follow_redirects=False,
            trust_env=False,
            verify=self._context(),
            timeout=httpx.Timeout(_DIAL_S, read=None),
            limits=httpx.Limits(max_keepalive_connections=0),
            headers={"user-agent": f"turnwire-doctor/{__version__}"},
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: object = None
    ) -> httpx.Response:
        """A whole exchange.

        Raises:
            BadTlsError: as it says.
            NoAnswerError: there is none.

        """
        async with self.opened(method, path, headers, body) as stream:
            return await stream.whole()

    def prompt(self, text: str, request_id: str) -> AbstractAsyncContextManager[Stream]:
        """Begin a turn. The connection closes with the block."""
        message = {
            "id": uuid.uuid4().hex,
            "role": "user",
            "parts": [{"type": "text", "text": text}],
        }
        body = {"id": CHAT_ID, "trigger": "submit-message", "messages": [message]}
        headers = {**self.bearer(), "x-request-id": request_id, "accept": "text/event-stream"}
        if self.where.origin is not None:
            headers["origin"] = self.where.origin
        return self.opened("POST", f"{self.where.chat}?onDisconnect=abort", headers, body)

    def resume(self) -> AbstractAsyncContextManager[Stream]:
        return self.opened("GET", f"{self.where.chat}/{CHAT_ID}/stream", self.bearer())

    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.where.token}"}

    @asynccontextmanager
    async def opened(
        self, method: str, path: str, headers: Mapping[str, str], body: object = None
    ) -> AsyncIterator[Stream]:
        """A response whose head is there.

        Raises:
            BadTlsError: as it says.
            NoAnswerError: there is none.

        """
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        sent = self._client.build_request(
            method, path, headers={"accept-encoding": "gzip", **headers}, json=body
        )
        try:
            async with asyncio.timeout(self.where.within_s):
                response = await self._client.send(sent, stream=True)
        except TimeoutError as exc:
            path = path.partition("?")[0]
            raise LateError(f"no answer to {path} in {self.where.within_s:g} s") from exc
        except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
            if _is_tls(exc):
                raise BadTlsError(str(exc)) from exc
            why = str(exc) or type(exc).__name__
            raise NoConnectionError(f"cannot connect to {self.where.url}: {why}") from exc
        except (httpx.RequestError, httpx.InvalidURL) as exc:
            path = path.partition("?")[0]
            raise NoAnswerError(f"no answer to {path}: {type(exc).__name__}") from exc
        self.was_answered = True
        try:
            yield Stream(response, Heard(asked_at, loop.time()), response.aiter_bytes())
        finally:
            await response.aclose()

    async def protocol(self) -> str | None:
        """What TLS would choose of HTTP/2 and HTTP/1.1; None without TLS.

        Raises:
            BadTlsError: as it says.
            NoAnswerError: nobody takes the connection, or it breaks.

        """
        url = urlsplit(self.where.url)
        if url.scheme != "https":
            return None
        context = self._context()
        context.set_alpn_protocols(["h2", "http/1.1"])
        try:
            async with asyncio.timeout(_DIAL_S):
                to = (url.hostname, url.port or 443)
                _, writer = await asyncio.open_connection(*to, ssl=context)
        except ssl.SSLError as exc:
            raise BadTlsError(f"where HTTP/2 is offered: {exc}") from exc
        except OSError as exc:
            why = type(exc).__name__
            raise NoConnectionError(f"no TLS where HTTP/2 is offered: {why}") from exc
        try:
            chosen: str | None = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        finally:
            writer.close()
        return chosen or "http/1.1"

    def _context(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.where.ca_file)
        except (OSError, ValueError) as exc:
            raise CannotRunError(f"{self.where.ca_file}: no certificates in PEM") from exc


def _is_tls(exc: BaseException | None) -> bool:
    while exc is not None:
        if isinstance(exc, ssl.SSLError):
            return True
        exc = exc.__cause__ or exc.__context__
    return False
