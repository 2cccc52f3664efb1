"""The shortest way from a stream to its client's socket: past the ASGI `send`, where it is safe.

Each short cut writes what uvicorn would write, byte for byte (tests/web/test_chunked_body.py), and
takes uvicorn's way where that would do anything else: wait, close, look at a method or a length.
"""

import weakref
from collections.abc import Awaitable, Sequence
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from turnwire.relay.stream import BODY_EXTENSION

_OK: Final = 200
_BODILESS: Final = {204, 304}
_OLD: Final = "1.0"
_END: Final = b"0\r\n\r\n"
_NAME: Final = b"abcdefghijklmnopqrstuvwxyz0123456789-_"
_VALUE: Final = b"\t" + bytes(range(0x20, 0x7F)) + bytes(range(0x80, 0x100))
"""What a field is made of beyond doubt: nothing of this can end its line."""
_FRAMING: Final = frozenset({b"connection", b"content-length", b"transfer-encoding"})
"""Fields that say something about the response's end, which uvicorn has to know."""


class ChunkedBody:
    """The body of one response (`relay.client.Body`)."""

    __slots__ = ("__weakref__", "_cycle", "_flow", "_is_open_ended", "_transport", "along")

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self.along = b""
        """The first chunk, to go out in one write with the head; empty once it did."""
        self._is_open_ended = False
        """Whether nothing but its connection's end says where it ends."""
        self._cycle = cycle
        self._flow = cycle.flow
        self._transport = cycle.transport

    async def send(self, message: Message) -> None:
        """As the server's own."""
        if not self.along or message["type"] != "http.response.start" or not self._begin(message):
            if self._cycle.scope["http_version"] == _OLD:
                self._unframe(message)
            await self._cycle.send(message)  # type: ignore[arg-type]  # uvicorn has types of its own

    def write(self, data: bytes, end: bytes = b"") -> bool:
        """Write a chunk as uvicorn would, where that is all that it would do."""
        cycle = self._cycle
        if (
            self._flow.write_paused
            or not cycle.chunked_encoding  # the head is not out, or the method is `HEAD`
            or cycle.response_complete
            or cycle.disconnected
        ):
            return False
        if data:  # a chunk without bytes would be the end of all
            self._transport.write(b"%x\r\n%b\r\n%b" % (len(data), data, end))
        return True

    def end(self, data: bytes) -> bool:
        """Write the last chunk, and end the response."""
        cycle = self._cycle
        if not data or not cycle.keep_alive or not self.write(data, _END):
            return False
        cycle.response_complete = True
        cycle.message_event.set()
        cycle.on_response()
        return True

    def _unframe(self, message: Message) -> None:
        """Have uvicorn write no chunks: HTTP/1.0 has none, and a body ends with its connection."""
        cycle = self._cycle
        if message["type"] == "http.response.start":
            has_body = cycle.scope["method"] != "HEAD" and message["status"] not in _BODILESS
            if has_body and _FRAMING.isdisjoint(name for name, _ in message.get("headers", ())):
                cycle.chunked_encoding = False
                self._is_open_ended = True
        elif self._is_open_ended:
            cycle.expected_content_length = len(message.get("body", b""))

    def _begin(self, message: Message) -> bool:
        """Write the head, and what goes along. False: nothing was written."""
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
        first, self.along = self.along, b""
        self._transport.write(
            b"%b%btransfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n"
            % (STATUS_LINE[_OK], b"".join(lines), len(first), first)
        )
        return True


def _are_plain(headers: Sequence[tuple[bytes, bytes]]) -> bool:
    """Whether these are fields beyond doubt that say nothing about the response's end."""
    names = [name for name, _ in headers]
    return (
        _FRAMING.isdisjoint(names)
        and not b"".join(names).translate(None, _NAME)
        and not b"".join([value for _, value in headers]).translate(None, _VALUE)
    )


class Answering:
    """Has an application send by the `ChunkedBody` of each request, which knows both ways.

    So a head goes through all that stands before it, and yet can take the first chunk along.
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
        extensions[BODY_EXTENSION] = weakref.ref(body)  # or the request would hold itself
        return self._app(scope, receive, body.send)
