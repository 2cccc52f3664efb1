"""What is read off a request before anybody looks at its meaning."""

import asyncio
import io
import os
import re
from collections.abc import Sequence
from functools import partial
from types import TracebackType
from typing import Final, Self

from starlette.datastructures import QueryParams
from starlette.types import Receive, Scope

from turnwire.core.trace_context import TraceContext
from turnwire.core.trace_context import read as read_context
from turnwire.errors import BadRequest, BodyTooLarge, Unavailable, WrongMediaType
from turnwire.relay.budget import Holder
from turnwire.relay.interrupted import Interruptible, expire
from turnwire.relay.sockets import ClientSocket
from turnwire.relay.stream import SOCKET_EXTENSION
from turnwire.web.forwarded import Proxies
from turnwire.web.tracing import UNTRACED, Trace

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_CHANNEL = re.compile(r"[^\x00-\x1f\x7f]{1,256}")
_MEDIA_TYPES = {b"application/json", b"text/plain"}
"""`text/plain` is what `WorkflowChatTransport` sends. A token still forces a preflight."""

_DIGITS_MAX = 19
"""Of a content-length. Python refuses to read a number of thousands of digits."""


BODY_S: Final = 30.0
"""How long a body may take, in seconds."""


_NO_QUERY: Final = QueryParams()

NO_ROOM: Final = "TURNWIRE_HELD_BYTES is spent, by this user for the most"


class ClientGoneError(Exception):
    """The client hung up before it had an answer; the text says when."""


class Request:
    """One request: its headers by name, its id, its query."""

    def __init__(self, scope: Scope, proxies: Proxies | None = None) -> None:
        self.scope = scope
        self._proxies = proxies or Proxies()
        self._query: QueryParams | None = None
        self._headers: dict[bytes, tuple[bytes, ...]] = {}
        for name, value in scope["headers"]:
            self._headers[name] = (*self._headers.get(name, ()), value)
        self.id = _request_id(self.headers(b"x-request-id"))
        self.trace: Trace = UNTRACED
        self.user_id: str | None = None
        """Known once the token is accepted."""
        self.session_id: str = scope.get("path_params", {}).get("session_id", "")

    @property
    def client(self) -> str | None:
        """The address that the request came from, as far as it is known; for the log."""
        if self.scope.get("client") is None:
            return None
        peer: str = self.scope["client"][0]
        return self._proxies.client(peer, self.headers(b"x-forwarded-for"))

    @property
    def query(self) -> QueryParams:
        if self._query is None:
            query = self.scope["query_string"]
            self._query = QueryParams(query) if query else _NO_QUERY
        return self._query

    @property
    def trace_context(self) -> TraceContext | None:
        """The trace that it says it belongs to."""
        if not (parents := self.headers(b"traceparent")):
            return None
        return read_context(parents, self.headers(b"tracestate"))

    def headers(self, name: bytes) -> Sequence[bytes]:
        """All values of a header; `name` in lower case."""
        return self._headers.get(name, ())

    @property
    def has_body(self) -> bool:
        """Whether it says that it has one."""
        lengths = self.headers(b"content-length")
        return bool(self.headers(b"transfer-encoding")) or any(n != b"0" for n in lengths)

    def channel(self, thread: str | None = None) -> tuple[str, str]:
        """The channel's type and id: what the query names, else this thread, else the default.

        A thread is a channel of its own.

        Raises:
            BadRequest: one of them is malformed.

        """
        thread_id = self.query.get("threadId")
        if thread_id is None and not self.query.keys() & {"channelType", "channelId"}:
            thread_id = thread
        if thread_id is not None:
            kind, name = "thread", thread_id
        else:
            kind = self.query.get("channelType", "web")
            name = self.query.get("channelId", "default")
        if _CHANNEL.fullmatch(kind) is None or _CHANNEL.fullmatch(name) is None:
            raise BadRequest("channelType, channelId and threadId are 1 to 256 characters")
        return kind, name

    @property
    def client_socket(self) -> ClientSocket | None:
        """What there is of its connection beside ASGI."""
        socket: ClientSocket | None = (self.scope.get("extensions") or {}).get(SOCKET_EXTENSION)
        return socket

    async def body(
        self, receive: Receive, most_bytes: int, holder: Holder, *, within_s: float = BODY_S
    ) -> bytes:
        """Read the body. `holder` is told how much of it there is while more is to come.

        Raises:
            Unavailable: there is no room for it in the process.
            WrongMediaType: it is not declared as uncompressed JSON or text.
            BodyTooLarge: it is, or says it is, longer than `most_bytes`.
            BadRequest: it did not come within `within_s` seconds.
            ClientGoneError: the client hung up.

        """
        headers = self._headers.get
        media_type = b"".join(headers(b"content-type", ())).split(b";")[0].strip().lower()
        encodings = b",".join(headers(b"content-encoding", ())).strip().lower()
        if media_type not in _MEDIA_TYPES or encodings not in {b"", b"identity"}:
            raise WrongMediaType("content type or encoding")
        for length in headers(b"content-length", ()):
            if len(length) > _DIGITS_MAX or not length.isdigit() or int(length) > most_bytes:
                raise BodyTooLarge("content-length")
        client = self.client_socket
        if client is not None and client.is_heard:  # all of it is there: no clock, no timer
            return await _read(receive, most_bytes, holder)
        try:
            async with asyncio.timeout(within_s) as clock:
                return await _read(receive, most_bytes, holder, clock)
        except TimeoutError as exc:
            if clock.when() == 0:
                raise Unavailable(NO_ROOM) from exc
            raise BadRequest("The body came too slowly") from exc


async def _read(
    receive: Receive, most_bytes: int, holder: Holder, clock: asyncio.Timeout | None = None
) -> bytes:
    came: io.BytesIO | None = None
    """Where it grows, and is whole in the end, without a second copy of it."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError("gone before its body was whole")
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > most_bytes:
            raise BodyTooLarge("body")
        if not message.get("more_body", False):
            break
        _hold(holder, size, clock)
        came = came or io.BytesIO()
        came.write(chunk)
    if came is None:
        return chunk
    came.write(chunk)
    return came.getvalue()


def _hold(holder: Holder, size: int, clock: asyncio.Timeout | None) -> None:
    """Count what came of a body whose rest is to come."""
    keep(holder, size)
    if clock is not None and holder.asked is not None:
        holder.asked.on_end = partial(expire, clock)


class WhileItWaits(Interruptible):
    """`async with WhileItWaits(request):` does this for a client, as long as that is there.

    Raises:
        ClientGoneError: it hung up.

    """

    __slots__ = ("_client",)

    def __init__(self, request: Request) -> None:
        super().__init__(ClientGoneError("gone before its answer was made"))
        self._client = request.client_socket

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        if self._client is not None:
            self._client.watch(self.end)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._client is not None:
            self._client.watch(None)
        await super().__aexit__(kind, error, traceback)


def keep(holder: Holder, size: int) -> None:
    """Count so many bytes of what was asked.

    Raises:
        Unavailable: there is no room for them, and this user holds most.

    """
    if not holder.ask(size):
        raise Unavailable(NO_ROOM)


def _request_id(given: Sequence[bytes]) -> str:
    if len(given) == 1 and _REQUEST_ID.fullmatch(given[0]) is not None:
        return given[0].decode()
    return os.urandom(16).hex()
