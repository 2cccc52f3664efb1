"""Read the response of one HTTP/1.1 request: bytes in, its head and its body out.

The library (httptools, which is Node's llhttp) decides what is valid HTTP. This module adds what
it leaves open: bounds for the head and for the trailer, interim responses (1xx), which come before
the response and mean nothing here, and the end of a body that only the close of its connection
ends.
"""

import math
from collections.abc import Mapping
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
_KEEP_ALIVE: Final = "keep-alive"
_NO_HEADERS: Final[Mapping[str, str]] = {}

_DIGITS_MAX: Final = 9
"""Most digits of a number that a server says about its connection."""


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
    headers: Mapping[str, str]
    """Values of a name that comes several times are joined by commas."""

    @property
    def content_type(self) -> str:
        """The media type alone, in lower case."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def keep_alive_s(self) -> float:
        """Seconds for which the server keeps the connection without a request.

        Infinity: it does not say. 0: it takes no more requests.
        """
        keep_alive = self.headers.get(_KEEP_ALIVE)
        if keep_alive is None:
            return math.inf
        fields = [each.partition("=") for each in keep_alive.split(",")]
        numbers = {
            name.strip().lower(): int(value)
            for name, _, value in fields
            if value.strip().isdecimal() and len(value) <= _DIGITS_MAX
        }
        return 0 if numbers.get("max") == 0 else numbers.get("timeout", math.inf)


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
        "on_body",
    )

    def __init__(self) -> None:
        self.head: Head | None = None
        """None until it is complete."""
        self.is_complete = False
        """Whether the body has come to its end."""
        self.is_reusable = False
        """Whether another request may follow on the connection. Only valid after the end."""
        self._headers: dict[str, str] = {}
        self._head_bytes = 0
        self._body: list[bytes] = []
        self.on_body = self._body.append
        """A callback of the library, which calls it for each chunk: so it is one in C."""
        self._bare_bytes = 0
        """Bytes of the reads since the last one with a part of the body."""
        self._fields = 0
        self._is_sized = False
        """Whether the response says where its body ends."""
        self._parser: httptools.HttpResponseParser | None = httptools.HttpResponseParser(self)

    def read(self, data: bytes) -> bytes:
        """Return the part of the body that is in these bytes.

        Raises:
            BrokenResponseError: nothing can be read any more.

        """
        if self.head is None:
            self._head_bytes += len(data)
        elif self.is_complete and data:
            self.is_reusable = False
            raise BrokenResponseError("bytes behind the response")
        parser = self._parser
        assert parser is not None
        try:
            parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as problem:
            self.is_reusable = False
            raise BrokenResponseError(str(problem), self._take_body()) from problem
        if self._body:
            self._bare_bytes = 0
            return self._take_body()
        if self.head is None:
            if self._head_bytes > HEAD_BYTES_MAX:
                raise BrokenResponseError("its head is too long")
        else:  # the library keeps a field of the trailer until it is complete
            self._bare_bytes += len(data)
            if self._bare_bytes > HEAD_BYTES_MAX and not self.is_complete:
                raise BrokenResponseError("its trailer is too long")
        return b""

    def _take_body(self) -> bytes:
        parts = self._body
        body = parts[0] if len(parts) == 1 else b"".join(parts)
        parts.clear()
        return body

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

    def accept(self) -> None:
        """Forget the headers, but for the one that is asked for at the end: a body may be long."""
        head = self.head
        assert head is not None
        keep_alive = head.headers.get(_KEEP_ALIVE)
        kept = _NO_HEADERS if keep_alive is None else {_KEEP_ALIVE: keep_alive}
        self.head = Head(head.status, kept)

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

    def on_message_complete(self) -> None:
        if self.head is not None:
            assert self._parser is not None
            self.is_complete = True
            self.is_reusable = self._parser.should_keep_alive()
