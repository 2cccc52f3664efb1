"""Writes response bodies directly to the client's transport, without ASGI `send`, where it can.

Each fast path writes the same bytes as uvicorn (tests/web/server/test_response_body.py). Where
uvicorn would do more than write (wait, close, look at the method or a length), it gets the message.
"""

import weakref
from collections.abc import Awaitable, Sequence
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from turnwire.relay.client_writer import BODY_EXTENSION

_OK: Final = 200
_BODILESS: Final = {204, 304}
_HTTP_1_0: Final = "1.0"
_LAST_CHUNK: Final = b"0\r\n\r\n"
_NAME_BYTES: Final = b"abcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUE_BYTES: Final = b"\t" + bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100))
"""Bytes of header names and values that are certainly valid: none of them can end a line."""
_FRAMING_HEADERS: Final = frozenset({b"connection", b"content-length", b"transfer-encoding"})
"""Headers about the end of the response, which uvicorn has to see."""


class ChunkedBody:
    """The body of one response (a `relay.client_writer.Body`)."""

    __slots__ = (
        "__weakref__",
        "_cycle",
        "_ends_with_connection",
        "_flow",
        "_transport",
        "first_data",
        "is_first_last",
    )

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self.first_data = b""
        """The first chunk, to write together with the head. Empty once it is written."""
        self.is_first_last = False
        """Whether it is the whole body."""
        self._ends_with_connection = False
        """Whether only the end of the connection marks the end of this body."""
        self._cycle = cycle
        self._flow = cycle.flow
        self._transport = cycle.transport

    async def send(self, message: Message) -> None:
        """As uvicorn's `send`; writes the head together with `first_data` if it can."""
        if (
            not self.first_data
            or message["type"] != "http.response.start"
            or not self._write_head(message)
        ):
            if self._cycle.scope["http_version"] == _HTTP_1_0:
                self._disable_chunking(message)
            await self._cycle.send(message)  # type: ignore[arg-type]  # uvicorn has types of its own

    def write(self, data: bytes, end: bytes = b"") -> bool:
        """Write `data` as a chunk, then `end`. False: nothing was written, `send` it."""
        cycle = self._cycle
        if (
            self._flow.write_paused
            or not cycle.chunked_encoding  # the head is not written, or the method is `HEAD`
            or cycle.response_complete
            or cycle.disconnected
        ):
            return False
        if data:  # an empty chunk would end the body
            self._transport.write(b"%x\r\n%b\r\n%b" % (len(data), data, end))
        return True

    def end(self, data: bytes) -> bool:
        """Write the last chunk and end the response. False: nothing was written."""
        cycle = self._cycle
        if not data or not cycle.keep_alive or not self.write(data, _LAST_CHUNK):
            return False
        self._complete()
        return True

    def _complete(self) -> None:
        """Do what uvicorn does behind the last chunk."""
        cycle = self._cycle
        cycle.response_complete = True
        cycle.message_event.set()
        cycle.on_response()

    def _disable_chunking(self, message: Message) -> None:
        """Make uvicorn write an unchunked body for HTTP/1.0, which ends with its connection."""
        cycle = self._cycle
        if message["type"] == "http.response.start":
            has_body = cycle.scope["method"] != "HEAD" and message["status"] not in _BODILESS
            if has_body and _FRAMING_HEADERS.isdisjoint(
                name for name, _ in message.get("headers", ())
            ):
                cycle.chunked_encoding = False
                self._ends_with_connection = True
        elif self._ends_with_connection:
            cycle.expected_content_length = len(message.get("body", b""))

    def _write_head(self, message: Message) -> bool:
        """Write the head and `first_data`. False: nothing was written."""
        cycle = self._cycle
        headers: Sequence[tuple[bytes, bytes]] = message["headers"]
        if (
            message["status"] != _OK
            or cycle.response_started
            or cycle.disconnected
            or not cycle.keep_alive
            or self._flow.write_paused
            or cycle.scope["method"] == "HEAD"
            or not _are_plain(headers)
        ):
            return False
        cycle.response_started = cycle.chunked_encoding = True
        cycle.waiting_for_100_continue = False
        lines = [b"%b: %b\r\n" % header for header in (*cycle.default_headers, *headers)]
        chunk, self.first_data = self.first_data, b""
        self._transport.write(
            b"%b%btransfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n%b"
            % (
                STATUS_LINE[_OK],
                b"".join(lines),
                len(chunk),
                chunk,
                _LAST_CHUNK if self.is_first_last else b"",
            )
        )
        if self.is_first_last:
            self._complete()
        return True


def _are_plain(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether these headers are certainly valid, and none is about the end of the response."""
    names = [name for name, _ in headers]
    return (
        _FRAMING_HEADERS.isdisjoint(names)
        and not b"".join(names).translate(None, _NAME_BYTES)
        and not b"".join([value for _, value in headers]).translate(None, _VALUE_BYTES)
    )


class ResponseBodyMiddleware:
    """ASGI middleware: replaces `send` by `ChunkedBody.send` for each request.

    So the head of a response passes through all other middleware, and is still written together
    with the first chunk.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        extensions: dict[str, Any] | None = scope.get("extensions")
        body: ChunkedBody | None = None
        if extensions is not None:
            body = extensions[BODY_EXTENSION]()
        if extensions is None or body is None:
            return self._app(scope, receive, send)
        extensions[BODY_EXTENSION] = weakref.ref(body)  # or the request would reference itself
        return self._app(scope, receive, body.send)
