"""Split a `text/event-stream` into events, and JSON lines into lines: bytes in, events out.

`EventStreamReader` reads as the WHATWG's HTML standard says in "Interpreting an event stream"
(section 9.2.6): lines end with LF, CR or CRLF; a byte order mark at the beginning is skipped; the
`data` fields of an event are joined by LF; an empty line ends an event; an event without `data`
is none; what is left without an empty line at the end of the body is dropped. `JsonLinesReader`
does the same for `application/x-ndjson`.

An event is `bytes`, its data. An event with a name or an id is a `NamedEvent`, which is `bytes`
too: most wires need neither, so most events are plain.
"""

from itertools import repeat
from typing import Final, Protocol, Self

from turnwire.core.bounds import ID_MAX

_BOM: Final = b"\xef\xbb\xbf"
_DATA: Final = b"data: "
_DATA_BYTES: Final = len(_DATA)

_BETWEEN: Final = b"\n\n" + _DATA

_SHORT_BYTES: Final = 4_096
"""Most bytes of a read that is tried as nothing but events of one line, as most reads are."""

_LONG_LINE_BYTES: Final = 1_024

LINES_MAX: Final = 10_000
"""Most lines of an event, comments and all. Each costs time; real agents write one."""


class EventTooLongError(ValueError):
    """An event, or a line, is longer than the limit. Nothing can be read any more."""


class NamedEvent(bytes):
    """The data of an event that has a name (`event:`) or an id (`id:`) beside it."""

    name: str
    id: str

    def __new__(cls, data: bytes, name: str, event_id: str) -> Self:
        event = super().__new__(cls, data)
        event.name = name
        event.id = event_id
        return event


class StreamReader(Protocol):
    """Splits a body into events."""

    @property
    def held_bytes(self) -> int:
        """Bytes of an event whose end has not come."""
        ...

    def read(self, data: bytes) -> list[bytes]:
        """Return the events that end in these bytes.

        Raises:
            EventTooLongError: an event is longer than the limit.

        """
        ...


class _Parts:
    """Bytes that came before their end. They are joined once, whatever the number of reads."""

    __slots__ = ("_max_bytes", "_parts", "has_line_end", "held_bytes")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self.held_bytes = 0
        self.has_line_end = False
        """Whether an LF is held."""

    @property
    def last_byte(self) -> bytes:
        return self._parts[-1][-1:] if self._parts else b""

    def add(self, data: bytes) -> None:
        if data:
            self._parts.append(data)
            self.held_bytes += len(data)
            self.has_line_end = self.has_line_end or b"\n" in data
            if self.held_bytes > self._max_bytes:
                raise EventTooLongError

    def take(self, data: bytes) -> bytes:
        """Return all parts, with `data` behind them."""
        if not self._parts:
            return data
        whole = b"".join([*self._parts, data])
        self._parts.clear()
        self.held_bytes = 0
        self.has_line_end = False
        return whole

    def drop_comments(self) -> None:
        """Drop the complete comment lines before an event: servers send them for hours."""
        if not self._parts or not self._parts[0].startswith(b":") or b"\n" not in self._parts[-1]:
            return
        whole, begin = self.take(b""), 0
        while whole.startswith(b":", begin) and (end := whole.find(b"\n", begin)) >= 0:
            begin = end + 1
        self.add(whole[begin:])


class EventStreamReader:
    """Reads one `text/event-stream`. `max_bytes` bounds an event with all of its lines."""

    __slots__ = ("_event_id", "_has_begun", "_max_bytes", "_parts", "_short_bytes", "_skips_lf")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._short_bytes = min(max_bytes, _SHORT_BYTES)
        self._parts = _Parts(max_bytes)
        self._has_begun = False
        self._skips_lf = False
        """Whether the last read ended with CR: an LF that follows belongs to it."""
        self._event_id = ""

    @property
    def held_bytes(self) -> int:
        return self._parts.held_bytes

    def read(self, data: bytes) -> list[bytes]:
        if (
            len(data) <= self._short_bytes
            and not self._parts.held_bytes
            and not self._event_id  # each event would have it
        ):
            only = _only_events(data)
            if only is not None:
                self._has_begun, self._skips_lf = True, False
                return only
        if not self._has_begun:
            data = self._without_mark(data)
        if self._skips_lf or b"\r" in data:
            data = self._with_lf(data)
        parts = self._parts
        if b"\n" not in data:
            parts.add(data)
            return []
        if not parts.has_line_end:
            data = parts.take(data)
            events = self._plain_events(data)
            if events is not None:
                return events
        # An empty line ends an event. Of its two LF, the first may have come with the last read.
        if b"\n\n" not in data and not data[:1] == b"\n" == parts.last_byte:
            parts.add(data)
            parts.drop_comments()
            return []
        *blocks, rest = parts.take(data).split(b"\n\n")
        if max(map(len, blocks)) > self._max_bytes:
            raise EventTooLongError
        events = [event for event in map(self._event, blocks) if event is not None]
        parts.add(rest)
        parts.drop_comments()
        return events

    def _plain_events(self, data: bytes) -> list[bytes] | None:
        """Return the events of this data, if each of them is one line of data, and hold the rest.

        None: they are not. Most are, and then C code alone reads them: it takes a third of the time
        of a loop over the events, and a search for single LF a fifth of one for two.
        """
        lines = _lines(data)
        begun = lines[:-1:2]
        if (
            len(lines) % 2 == 0
            or any(lines[1::2])
            or not all(map(bytes.startswith, begun, repeat(_DATA)))
            or self._event_id
            or len(data) > self._max_bytes
        ):
            return None
        self._parts.add(lines[-1])
        return [line[_DATA_BYTES:] for line in begun]

    def _event(self, block: bytes) -> bytes | None:
        """Return the event of these lines; None if no line has data."""
        if block.startswith(_DATA) and b"\n" not in block and not self._event_id:
            return block[_DATA_BYTES:]
        if block.count(b"\n") >= LINES_MAX:
            raise EventTooLongError
        name = ""
        values = []
        for line in block.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            match field:
                case b"data":
                    values.append(value)
                case b"event":
                    name = _kept(value)
                case b"id" if b"\0" not in value:
                    self._event_id = _kept(value)
                case _:  # a comment, `retry`, or unknown: the standard ignores it
                    pass
        if not values:
            return None
        data = b"\n".join(values)
        return NamedEvent(data, name, self._event_id) if name or self._event_id else data

    def _without_mark(self, data: bytes) -> bytes:
        """Skip a byte order mark. An incomplete one is held."""
        data = self._parts.take(data)
        if len(data) < len(_BOM) and _BOM.startswith(data):
            self._parts.add(data)
            return b""
        self._has_begun = True
        return data.removeprefix(_BOM)

    def _with_lf(self, data: bytes) -> bytes:
        """Replace every end of a line by LF."""
        if self._skips_lf and data:
            self._skips_lf = False
            data = data.removeprefix(b"\n")
        if data.endswith(b"\r"):
            self._skips_lf = True
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _only_events(data: bytes) -> list[bytes] | None:
    """Return the events of this data, if it is whole events of one line each; None: it is not."""
    if not data.startswith(_DATA) or not data.endswith(b"\n\n") or b"\r" in data:
        return None
    events = data[_DATA_BYTES:-2].split(_BETWEEN)
    return events if data.count(b"\n") == 2 * len(events) else None


def _lines(data: bytes) -> list[bytes]:
    """Split data at each LF.

    `find` skips a long line forty times as fast as `split`, which is faster for short ones.
    """
    lines: list[bytes] = []
    begin, end = 0, data.find(b"\n")
    while end - begin > _LONG_LINE_BYTES:
        lines.append(data[begin:end])
        begin = end + 1
        if data.startswith(b"\n", begin):  # the empty line behind an event
            lines.append(b"")
            begin += 1
        end = data.find(b"\n", begin)
    return lines + data[begin:].split(b"\n")


class JsonLinesReader:
    """Reads one body of JSON lines, each ended by LF or CRLF. `max_bytes` bounds a line."""

    __slots__ = ("_max_bytes", "_parts")

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts = _Parts(max_bytes)

    @property
    def held_bytes(self) -> int:
        return self._parts.held_bytes

    def read(self, data: bytes) -> list[bytes]:
        if b"\n" not in data:
            self._parts.add(data)
            return []
        *lines, rest = self._parts.take(data).split(b"\n")
        if max(map(len, lines)) > self._max_bytes:
            raise EventTooLongError
        self._parts.add(rest)
        return [line for line in map(_without_cr, lines) if line]


def _without_cr(line: bytes) -> bytes:
    return line.removesuffix(b"\r")


def _kept(value: bytes) -> str:
    """Return a name or an id; "" if it is longer than those that are kept."""
    text = value.decode(errors="replace")
    return text if len(text) <= ID_MAX else ""
