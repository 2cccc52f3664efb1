"""Server-sent events from bytes, however they are cut.

The format is that of the HTML standard: lines end with LF, CR or CRLF; an event ends with an empty
line; `data` lines are joined with LF; a line that begins with a colon is a comment. An event that
the body's end cuts is none. Bytes are UTF-8; what is not is left to whoever parses the data.
"""

import re
from typing import Final

from msgspec import Struct

LINE_BYTES: Final = 32 * 1024 * 1024
"""A longer line, or event, is a fault of the server. A picture may be one line."""

_END_OF_LINE: Final = re.compile(rb"\r\n|\n|\r")


class ServerSentEvent(Struct, frozen=True):
    """One event."""

    name: str
    """Its `event` field; empty if it has none."""
    data: bytes


class TooLongError(ValueError):
    """An event is longer than `LINE_BYTES`."""


class EventReader:
    """Splits a body into its events. It holds at most one event."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._name = b""
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._first = True

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that are whole with these bytes.

        Raises:
            TooLongError: A line, or the data of an event, is too long.
        """
        # A CR at the end may be half of a CRLF: it waits. So does a line without its end.
        if self._rest and b"\n" not in chunk and b"\r" not in chunk and not self._ends_with_cr():
            self._keep(chunk)
            return []
        text = b"".join((*self._rest, chunk))
        self._rest, self._rest_bytes = [], 0
        lines = _END_OF_LINE.split(text[:-1] if text.endswith(b"\r") else text)
        self._keep(lines.pop() + (b"\r" if text.endswith(b"\r") else b""))
        return [event for line in lines if (event := self._line(line))]

    def _ends_with_cr(self) -> bool:
        return self._rest[-1].endswith(b"\r")

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._rest.append(rest)
            self._rest_bytes += len(rest)
            if self._rest_bytes > LINE_BYTES:
                raise TooLongError

    def _line(self, line: bytes) -> ServerSentEvent | None:
        if self._first:
            self._first = False
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line:
            event = None
            if self._data:
                name = self._name.decode("utf-8", "replace")
                event = ServerSentEvent(name, b"\n".join(self._data))
            self._name, self._data, self._data_bytes = b"", [], 0
            return event
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
            self._data_bytes += len(value) + 1
            if self._data_bytes > LINE_BYTES:
                raise TooLongError
        elif field == b"event":
            self._name = value
        return None
