"""Where the body of a response ends (RFC 9112, 6.3): bytes in, bytes of the body out. Pure."""

import re
from collections.abc import Sequence
from typing import Final, Protocol

LINE_BYTES_MAX: Final = 16_384
"""Of a line that gives the size of a chunk, with its extensions, and of all lines of a trailer."""

_DIGITS: Final = b"0123456789abcdefABCDEF"
_DIGITS_MAX: Final = 15
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,%d})(?:;.*)?[ \t]*" % _DIGITS_MAX)
_CRLF: Final = b"\r\n"
_LF: Final = b"\n"
_LINE, _END_OF_CHUNK, _TRAILER = 0, -1, -2
"""What comes next, where no bytes of a chunk do."""
_NO_BODY: Final = frozenset({204, 304})


class FramingError(ValueError):
    """The bytes are no body of this kind. Its text has nothing of them."""


class Framing(Protocol):
    """Reads one body."""

    is_complete: bool
    """Whether the body came to its end."""
    is_exact: bool
    """Whether the end was told, and nothing came behind it: the connection can be used again."""

    def feed(self, data: bytes) -> bytes:
        """Return what of these bytes is the body.

        Raises:
            FramingError: they are none.

        """
        ...

    def end(self) -> None:
        """The other end has closed the connection.

        Raises:
            FramingError: the body has not come to its end.

        """
        ...


class Sized:
    """A body of so many bytes."""

    __slots__ = ("_left", "is_complete", "is_exact")

    def __init__(self, size: int) -> None:
        self._left = size
        self.is_complete = self.is_exact = size == 0

    def feed(self, data: bytes) -> bytes:
        body = data[: self._left]
        self._left -= len(body)
        self.is_complete = not self._left
        self.is_exact = self.is_complete and len(body) == len(data)
        return body

    def end(self) -> None:
        self.is_exact = False
        if not self.is_complete:
            raise FramingError("the body is cut short")


class Endless:
    """A body that ends with its connection."""

    __slots__ = ("is_complete", "is_exact")

    def __init__(self) -> None:
        self.is_complete = self.is_exact = False

    def feed(self, data: bytes) -> bytes:
        return data

    def end(self) -> None:
        self.is_complete = True


class Chunked:
    """A body in chunks, each with its size before it. Extensions and the trailer are dropped."""

    __slots__ = ("_held", "_left", "_trailer_bytes", "is_complete", "is_exact")

    def __init__(self) -> None:
        self.is_complete = self.is_exact = False
        self._left = _LINE
        """Bytes of the chunk that are to come, or what comes next."""
        self._held = b""
        """The beginning of a line."""
        self._trailer_bytes = 0

    def feed(self, data: bytes) -> bytes:
        if self._held:
            data = self._held + data
            self._held = b""
        if self.is_complete:
            self.is_exact = self.is_exact and not data
            return b""
        pieces: list[bytes] = []
        at, size = 0, len(data)
        while at < size:
            if self._left > 0:
                piece = data[at : at + self._left]
                pieces.append(piece)
                at += len(piece)
                self._left = self._left - len(piece) or _END_OF_CHUNK
                continue
            line_end = _CRLF if self._left != _TRAILER else _LF  # some servers end with it alone
            end = data.find(line_end, at)
            if end < 0:
                self._hold(data[at:])
                break
            self._take(data[at:end])
            at = end + len(line_end)
            if self.is_complete:
                self.is_exact = at == size
                break
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def end(self) -> None:
        self.is_exact = False
        if not self.is_complete:
            raise FramingError("the body is cut short")

    def _take(self, line: bytes) -> None:
        if self._left == _LINE:
            if line.strip(_DIGITS) or not 0 < len(line) <= _DIGITS_MAX:  # nearly never
                found = _SIZE.fullmatch(line)
                if found is None:
                    raise FramingError("no size of a chunk")
                line = found[1]
            self._left = int(line, 16) or _TRAILER
        elif self._left == _END_OF_CHUNK:
            if line:
                raise FramingError("a chunk is longer than its size")
            self._left = _LINE
        elif line.removesuffix(b"\r"):
            self._trailer_bytes += len(line)
            self._check(self._trailer_bytes)
        else:
            self.is_complete = True

    def _hold(self, beginning: bytes) -> None:
        """Keep the beginning of a line until the rest of it comes."""
        if self._left == _END_OF_CHUNK and beginning != b"\r":
            raise FramingError("a chunk is longer than its size")
        self._check(len(beginning))
        self._held = beginning

    def _check(self, size: int) -> None:
        if size > LINE_BYTES_MAX:
            raise FramingError("a line is too long")


def framing_of(method: bytes, status: int, headers: Sequence[tuple[bytes, bytes]]) -> Framing:
    """Return how the body of a response is read.

    Args:
        method: Of the request.
        status: Of the response.
        headers: Of the response, with names in lower case, as `h11` has checked them: at most one
            length, and no coding but `chunked`.

    """
    if method == b"HEAD" or status in _NO_BODY:
        return Sized(0)
    named = dict(headers)
    if b"transfer-encoding" in named:
        return Chunked()
    if (length := named.get(b"content-length")) is not None:
        return Sized(int(length))
    return Endless()
