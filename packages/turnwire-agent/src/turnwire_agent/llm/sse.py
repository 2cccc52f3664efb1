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
        if chunk.startswith(b"data: ") and self._is_between_events and _is_one_event(chunk):
            self._first = False  # nearly every one, of a provider that sends as it goes
            return [ServerSentEvent("", chunk[6:-2])]
        # A CR at the end may be half of a CRLF: it waits. So does a line without its end.
        if self._rest and b"\n" not in chunk and b"\r" not in chunk and not self._ends_with_cr():
            self._keep(chunk)
            return []
        text = b"".join((*self._rest, chunk)) if self._rest else chunk
        self._rest, self._rest_bytes = [], 0
        if b"\r" not in text:
            lines = text.split(b"\n")
            self._keep(lines.pop())
        elif text.endswith(b"\r"):
            lines = _END_OF_LINE.split(text[:-1])
            self._keep(lines.pop() + b"\r")
        else:
            lines = _END_OF_LINE.split(text)
            self._keep(lines.pop())
        return self._events(lines)

    @property
    def _is_between_events(self) -> bool:
        return not (self._rest or self._data or self._name)

    def _ends_with_cr(self) -> bool:
        return self._rest[-1].endswith(b"\r")

    def _keep(self, rest: bytes) -> None:
        if rest:
            self._rest.append(rest)
            self._rest_bytes += len(rest)
            if self._rest_bytes > LINE_BYTES:
                raise TooLongError

    def _events(self, lines: list[bytes]) -> list[ServerSentEvent]:
        """The events that end with these lines."""
        if self._first and lines:
            self._first = False
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        events = []
        for line in lines:
            if line.startswith(b"data: "):  # nearly every one
                self._add(line[6:])
            elif line:
                self._field(line)
            else:
                if self._data:
                    name = self._name.decode("utf-8", "replace") if self._name else ""
                    events.append(ServerSentEvent(name, b"\n".join(self._data)))
                    self._data, self._data_bytes = [], 0
                self._name = b""
        return events

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._add(value)
        elif field == b"event":
            self._name = value

    def _add(self, data: bytes) -> None:
        self._data.append(data)
        self._data_bytes += len(data) + 1
        if self._data_bytes > LINE_BYTES:
            raise TooLongError


def _is_one_event(chunk: bytes) -> bool:
    """Whether this is one line and the empty line that ends its event."""
    return (
        chunk.find(b"\n") == len(chunk) - 2
        and chunk.endswith(b"\n\n")
        and b"\r" not in chunk
        and len(chunk) <= LINE_BYTES + len(b"data: \n")
    )
