"""The wire of `posting_dialect` over HTTP: one request, and the events of its response."""

from collections.abc import Sequence

import msgspec

from support.posting_dialect import Begun, Over, Posting, PostingProtocol, Text
from turnwire.core.connect import ConnectRequest
from turnwire.core.requests import PromptRequest
from turnwire.core.session_group import Member

TYPES = ("text/event-stream", "application/x-ndjson")


class HttpProtocol(PostingProtocol):
    def connect_request(self) -> ConnectRequest:
        request = super().connect_request()
        return msgspec.structs.replace(request, offered_protocols=(), accept=TYPES)


class HttpDialect(Posting):
    name = "http-posting"
    transport = "http"
    operations = frozenset()

    def prompt(self, request: PromptRequest, _member: Member | None = None) -> HttpProtocol:
        return HttpProtocol(request)


def event(frame: msgspec.Struct) -> bytes:
    """A server-sent event."""
    return b"data: %b\n\n" % msgspec.json.encode(frame)


def events(*texts: str) -> bytes:
    """The events of a whole turn."""
    frames: Sequence[msgspec.Struct] = [Begun("t1"), *map(Text, texts), Over()]
    return b"".join(map(event, frames))


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


def chunked(*parts: bytes) -> bytes:
    """A whole response, with a chunk for each of these parts."""
    return CHUNKED + b"".join(map(chunk, parts)) + END


def sized(body: bytes, head: bytes = HEAD) -> bytes:
    """A whole response that says how long its body is."""
    return head + b"content-length: %d\r\n\r\n" % len(body) + body


WHOLE = events("Hello", " world")
BEGUN = event(Begun("t1")) + event(Text("Hello"))
