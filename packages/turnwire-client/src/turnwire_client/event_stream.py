"""Server-sent events: bytes in, the data of each event out.

Of an event only its `data:` lines count. A comment is how the gateway keeps a connection alive: it
is reported, because it means that the gateway has nothing else to send at that moment.
"""

import re
from collections.abc import Iterator
from typing import Final

from turnwire_client.errors import TooLargeError
from turnwire_client.limits import Limits

KEEPALIVE: Final = b""
"""Stands for a comment. An event without data is dropped, so no other item is empty."""

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BOM: Final = b"\xef\xbb\xbf"


class EventStream:
    """One response body. `feed` may get it cut at any places."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._line: list[bytes] = []
        self._line_bytes = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._total_bytes = 0
        self._ends_with_cr = False
        self._is_at_start = True

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the data of each event that is complete, and `KEEPALIVE` for each comment.

        Raises:
            TooLargeError: a line, an event or the whole body is longer than its bound.

        """
        self._total_bytes += len(data)
        if self._total_bytes > self._limits.turn_bytes:
            raise TooLargeError("the stream is longer than turn_bytes")
        if self._ends_with_cr and data:
            data = data.removeprefix(b"\n")
            self._ends_with_cr = False
        if not data:
            return
        self._ends_with_cr = data.endswith(b"\r")
        *lines, rest = _LINE_END.split(data)
        for line in lines:
            self._add(line)
            item = self._take(b"".join(self._line))
            self._line.clear()
            self._line_bytes = 0
            if item is not None:
                yield item
        self._add(rest)

    def _add(self, piece: bytes) -> None:
        self._line_bytes += len(piece)
        if self._line_bytes > self._limits.line_bytes:
            raise TooLargeError("a line of the stream is longer than line_bytes")
        if piece:
            self._line.append(piece)

    def _take(self, line: bytes) -> bytes | None:
        """Return what a line completes."""
        if self._is_at_start:
            self._is_at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            data = b"\n".join(self._data)
            self._data.clear()
            self._data_bytes = 0
            return data or None
        if line.startswith(b":"):
            return KEEPALIVE
        if line.startswith(b"data:"):
            value = line[5:].removeprefix(b" ")
            self._data_bytes += len(value)
            if self._data_bytes + len(self._data) > self._limits.event_bytes:
                raise TooLargeError("an event of the stream is longer than event_bytes")
            self._data.append(value)
        return None
