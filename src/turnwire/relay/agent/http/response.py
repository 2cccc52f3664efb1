"""Read the response of one HTTP/1.1 request: bytes in, its head and its body out.

The library (httptools, which is Node's llhttp) decides what is valid HTTP. This module adds what
it leaves open: bounds for the head and for the trailer, interim responses (1xx), which come before
the response and mean nothing here, and the end of a body that only the close of its connection
ends.
"""

from typing import Final

import httptools
from msgspec import Struct

HEAD_BYTES_MAX: Final = 65_536
"""Most bytes before the body: of all heads, the interim ones too."""

FIELDS_MAX: Final = 256
"""Most header fields of a head, and of the trailer."""

_INTERIM: Final = 200
"""A response with a lower status is not the last one."""

_SWITCHING: Final = 101


class BrokenResponseError(ValueError):
    """The bytes are not an HTTP response, or its head is too long.

    `body` is the part of the body that came before them, in the same bytes.
    """

    def __init__(self, problem: str, body: bytes = b"") -> None:
        super().__init__(problem)
        self.body = body


class Head(Struct, frozen=True):
    """The status line and the headers of a response, with names in lower case."""

    status: int
    headers: dict[str, str]
    """Values of a name that comes several times are joined by commas."""

    @property
    def content_type(self) -> str:
        """The media type alone, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class ResponseReader:
    """Reads one response. A reader for each request."""

    __slots__ = (
        "_bare_bytes",
        "_body",
        "_fields",
        "_head_bytes",
        "_headers",
        "_is_sized",
        "_parser",
        "head",
        "is_complete",
        "is_reusable",
    )

    def __init__(self) -> None:
        self.head: Head | None = None
        """None until it is complete."""
        self.is_complete = False
        """Whether the body has come to its end."""
        self.is_reusable = False
        """Whether another request may follow on the connection. Only valid after the end."""
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._head_bytes = 0
        self._body: list[bytes] = []
        self._bare_bytes = 0
        """Bytes of the reads since the last one with a part of the body."""
        self._fields = 0
        self._is_sized = False
        """Whether the response says where its body ends."""

    def read(self, data: bytes) -> bytes:
        """Return the part of the body that is in these bytes.

        Raises:
            BrokenResponseError: nothing can be read any more.

        """
        if self.is_complete and data:
            self.is_reusable = False
            raise BrokenResponseError("bytes behind the response")
        if self.head is None:
            self._head_bytes += len(data)
        parser = self._parser
        assert parser is not None
        try:
            parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            self.is_reusable = False
            raise BrokenResponseError(str(problem), self._take_body()) from problem
        if self.head is None and self._head_bytes > HEAD_BYTES_MAX:
            raise BrokenResponseError("its head is too long")
        body = self._take_body()
        # The library keeps a field of the trailer until it is complete.
        self._bare_bytes = 0 if body or self.head is None else self._bare_bytes + len(data)
        if self._bare_bytes > HEAD_BYTES_MAX and not self.is_complete:
            raise BrokenResponseError("its trailer is too long")
        return body

    def _take_body(self) -> bytes:
        body, self._body = self._body, []
        return body[0] if len(body) == 1 else b"".join(body)

    def connection_closed(self) -> None:
        """The agent closed the connection, in order. That ends a body without a length.

        Raises:
            BrokenResponseError: the response is cut short.

        """
        if self.is_complete:
            return
        if self.head is None or self._is_sized:
            raise BrokenResponseError("it is cut short")
        self.is_complete = True

    @property
    def is_untouched(self) -> bool:
        """Whether no byte has come."""
        return not self._head_bytes

    def close(self) -> None:
        """Break the reference cycle with the parser. Nothing can be read any more."""
        self._parser = None

    # Callbacks of the library.

    def on_message_begin(self) -> None:
        if self.is_complete:
            self.is_reusable = False
            raise BrokenResponseError("a second response")
        self._headers = {}

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        if self._fields > FIELDS_MAX:
            raise BrokenResponseError("it has too many fields")
        if self.head is not None:  # a trailer
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        earlier = self._headers.get(key)
        self._headers[key] = text if earlier is None else f"{earlier}, {text}"

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        status = self._parser.get_status_code()
        if status >= _INTERIM or status == _SWITCHING:
            self.head = Head(status, self._headers)
            self._fields = 0
            self._is_sized = not self._headers.keys().isdisjoint(
                ("content-length", "transfer-encoding")
            )
        self._headers = {}

    def on_body(self, data: bytes) -> None:
        self._body.append(data)

    def on_message_complete(self) -> None:
        if self.head is not None:
            assert self._parser is not None
            self.is_complete = True
            self.is_reusable = self._parser.should_keep_alive()
