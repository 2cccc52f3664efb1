"""One HTTP connection: uvicorn's protocol, and what it lacks in front of long streams."""

import uuid
from typing import Any, Final

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from turnwire.errors import BadRequest
from turnwire.relay.sockets import ClientSocket
from turnwire.relay.stream import SOCKET_EXTENSION

HEAD_BYTES_MAX: Final = 65_536
"""Longest request line and headers. Parsing them costs the square of a header's length."""


class HttpConnection(HttpToolsProtocol):
    """Bounds the head of a request, and lets nothing stand between a stream and its client's end.

    A request that comes in behind an open response cuts the connection. uvicorn
    would stop reading and keep it for later, and so would not notice when the
    client hangs up; browsers, proxies and HTTP libraries do not pipeline.
    """

    _head_bytes = 0
    _in_head = True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX and not self.transport.is_closing():
                self.send_400_response("The head of the request is too large")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head_bytes = True, 0
        extensions: dict[str, Any] = {SOCKET_EXTENSION: ClientSocket(self.transport)}
        self.scope["extensions"] = extensions

    def on_headers_complete(self) -> None:
        self._in_head = False
        if getattr(self.cycle, "response_complete", True):  # there may be none yet
            super().on_headers_complete()
        else:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP request, in the words of all other refusals."""
        request_id = uuid.uuid4().hex
        body = msgspec.json.encode({"error": msg, "code": BadRequest.code, "requestId": request_id})
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\ncache-control: no-store\r\n"
            f"x-content-type-options: nosniff\r\nx-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()
