"""One HTTP request: headers, query and body, before a route reads their meaning."""

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

from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.core.trace_context import TraceContext
from turnwire.core.trace_context import read as read_context
from turnwire.errors import BadRequest, BodyTooLarge, Unavailable, WrongMediaType
from turnwire.relay.client_writer import SOCKET_EXTENSION
from turnwire.relay.interrupted import Interruptible, expire
from turnwire.relay.memory_budget import Holder
from turnwire.relay.tcp import ClientSocket
from turnwire.web.observe.tracing import UNTRACED, Trace
from turnwire.web.trusted_proxies import Proxies

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")
_CHANNEL = re.compile(r"[^\x00-\x1f\x7f]{1,256}")
_MEDIA_TYPES = {b"application/json", b"text/plain"}
"""`WorkflowChatTransport` sends `text/plain`. A token still forces a preflight."""

_DIGITS_MAX = 19
"""Longest content-length, in digits. Python refuses to parse a number of thousands of digits."""


BODY_S: Final = 30.0
"""How long the client may take to send a body, in seconds."""


_NO_QUERY: Final = QueryParams()

_JSON: Final = (b"application/json",)
"""The values of `content-type` in most requests."""

BUDGET_SPENT: Final = "TURNWIRE_HELD_BYTES is spent, by this user for the most"


class ClientGoneError(Exception):
    """The client disconnected before it had an answer; the text says when."""


class Request:
    """One request: its headers by name, its id, its query."""

    __slots__ = ("_headers", "_proxies", "_query", "id", "scope", "session_id", "trace", "user_id")

    def __init__(self, scope: Scope, proxies: Proxies | None = None) -> None:
        self.scope = scope
        self._proxies = proxies or Proxies()
        self._query: QueryParams | None = None
        self._headers = headers = dict[bytes, tuple[bytes, ...]]()
        for name, value in scope["headers"]:
            headers[name] = (*headers[name], value) if name in headers else (value,)
        self.id = _request_id(self.headers(b"x-request-id"))
        self.trace: Trace = UNTRACED
        self.user_id: str | None = None
        """Set when the token is accepted."""
        self.session_id: str = scope.get("path_params", {}).get("session_id", "")

    @property
    def client(self) -> str | None:
        """The IP address of the client, for the log; None if the server does not know its peer."""
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
        """The trace that the header `traceparent` names, if it is valid."""
        if not (parents := self.headers(b"traceparent")):
            return None
        return read_context(parents, self.headers(b"tracestate"))

    def headers(self, name: bytes) -> Sequence[bytes]:
        """Return all values of a header; `name` is in lower case."""
        return self._headers.get(name, ())

    @property
    def has_body(self) -> bool:
        """Whether the headers announce a body."""
        lengths = self.headers(b"content-length")
        return bool(self.headers(b"transfer-encoding")) or any(n != b"0" for n in lengths)

    def channel(self, thread: str | None = None) -> Channel:
        """Return the channel: from the query, else this thread, else the default.

        A thread is a channel of its own.

        Raises:
            BadRequest: the type or the id is malformed.

        """
        if thread is None and not self.scope["query_string"]:  # most requests
            return DEFAULT_CHANNEL
        thread_id = self.query.get("threadId")
        if thread_id is None and not self.query.keys() & {"channelType", "channelId"}:
            thread_id = thread
        if thread_id is not None:
            kind, name = "thread", thread_id
        else:
            kind = self.query.get("channelType", DEFAULT_CHANNEL.type)
            name = self.query.get("channelId", DEFAULT_CHANNEL.id)
        if _CHANNEL.fullmatch(kind) is None or _CHANNEL.fullmatch(name) is None:
            raise BadRequest("channelType, channelId and threadId are 1 to 256 characters")
        return Channel(kind, name)

    @property
    def client_socket(self) -> ClientSocket | None:
        """The socket of the connection, where the server offers this extension of ASGI."""
        socket: ClientSocket | None = (self.scope.get("extensions") or {}).get(SOCKET_EXTENSION)
        return socket

    def _check_media_type(self) -> None:
        headers = self.headers
        media_type = b"".join(headers(b"content-type")).split(b";")[0].strip().lower()
        encodings = b",".join(headers(b"content-encoding")).strip().lower()
        if media_type not in _MEDIA_TYPES or encodings not in {b"", b"identity"}:
            raise WrongMediaType("content type or encoding")

    async def body(
        self, receive: Receive, max_bytes: int, holder: Holder, *, timeout_s: float = BODY_S
    ) -> bytes:
        """Read the body. While more is to come, `holder` reserves the bytes that have arrived.

        Raises:
            Unavailable: the memory budget has no room for the body.
            WrongMediaType: the body is not declared as uncompressed JSON or text.
            BodyTooLarge: the body, or its content-length, exceeds `max_bytes`.
            BadRequest: the body took longer than `timeout_s` seconds.
            ClientGoneError: the client disconnected.

        """
        headers = self.headers
        if headers(b"content-type") != _JSON or headers(b"content-encoding"):
            self._check_media_type()
        for length in headers(b"content-length"):
            if len(length) > _DIGITS_MAX or not length.isdigit() or int(length) > max_bytes:
                raise BodyTooLarge("content-length")
        client = self.client_socket
        # The body has arrived: no timer.
        if client is not None and client.is_request_complete:
            return await _read(receive, max_bytes, holder)
        try:
            async with asyncio.timeout(timeout_s) as timer:
                return await _read(receive, max_bytes, holder, timer)
        except TimeoutError as exc:
            if timer.when() == 0:
                raise Unavailable(BUDGET_SPENT) from exc
            raise BadRequest("The body came too slowly") from exc


async def _read(
    receive: Receive, max_bytes: int, holder: Holder, timer: asyncio.Timeout | None = None
) -> bytes:
    buffer: io.BytesIO | None = None
    """Collects the chunks of a body that comes in several; its value needs no second copy."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGoneError("gone before its body was whole")
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > max_bytes:
            raise BodyTooLarge("body")
        if not message.get("more_body", False):
            break
        _reserve_received(holder, size, timer)
        buffer = buffer or io.BytesIO()
        buffer.write(chunk)
    if buffer is None:
        return chunk
    buffer.write(chunk)
    return buffer.getvalue()


def _reserve_received(holder: Holder, size: int, timer: asyncio.Timeout | None) -> None:
    """Reserve the bytes that have arrived of a body that is not complete."""
    reserve(holder, size)
    if timer is not None and holder.request_reservation is not None:
        holder.request_reservation.on_end = partial(expire, timer)


class WhileClientWaits(Interruptible):
    """`async with WhileClientWaits(request):` interrupts its block when the client disconnects.

    Raises:
        ClientGoneError: the client disconnected.

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


def reserve(holder: Holder, size: int) -> None:
    """Reserve `size` bytes for the content of a request, instead of the bytes before.

    Raises:
        Unavailable: the memory budget has no room for them, and this user holds the most.

    """
    if not holder.reserve_request(size):
        raise Unavailable(BUDGET_SPENT)


def _request_id(values: Sequence[bytes]) -> str:
    if len(values) == 1 and _REQUEST_ID.fullmatch(values[0]) is not None:
        return values[0].decode()
    return os.urandom(16).hex()
