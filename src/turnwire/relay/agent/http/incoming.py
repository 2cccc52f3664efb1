"""The response of one exchange as frames: bytes in, the events of an accepted body out."""

from collections.abc import Sequence
from typing import Final

from turnwire.core.wire.event_stream import (
    EventStreamReader,
    EventTooLongError,
    JsonLinesReader,
    StreamReader,
)
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.http.refusal import EXCERPT_BYTES, Refusal, refusal_of
from turnwire.relay.agent.http.response import BrokenResponseError, Head, ResponseReader

_JSON_LINES: Final = "application/x-ndjson"
_CLOSED: Final = DisconnectReason.CLOSED  # access to an enum's attributes is slow


class Incoming:
    """Reads one response, and judges it by its head. `frame_bytes` bounds a frame."""

    __slots__ = ("_accept", "_events", "_frame_bytes", "end", "excerpt", "refusal", "response")

    def __init__(self, accept: Sequence[str], frame_bytes: int) -> None:
        self.response = ResponseReader()
        self.refusal: Refusal | None = None
        """Why the response is no stream of frames; None: it is one, or its head has not come."""
        self.excerpt = b""
        """The beginning of the body of a refusal."""
        self.end: DisconnectReason | None = None
        """Why nothing more can be read; None: the response goes on."""
        self._accept = accept
        self._frame_bytes = frame_bytes
        self._events: StreamReader | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether a head came, and its body is read."""
        return self._events is not None

    @property
    def head(self) -> Head | None:
        return self.response.head

    @property
    def held_bytes(self) -> int:
        """Bytes of the incomplete frame."""
        return 0 if self._events is None else self._events.held_bytes

    @property
    def has_excerpt(self) -> bool:
        """Whether no more of the body of a refusal is wanted, or none comes."""
        is_wanted = self.refusal is not None and self.refusal.why is DialFailure.STATUS
        return not is_wanted or self.end is not None or len(self.excerpt) >= EXCERPT_BYTES

    def read(self, data: bytes) -> Sequence[bytes]:
        """Return the frames that end in this data. Read `end` and `refusal` after it."""
        response = self.response
        try:
            body = response.read(data)
        except BrokenResponseError as broken:
            body, self.end = broken.body, DisconnectReason.BROKEN
        if response.is_complete:  # also if bytes follow: they are nobody's
            self.end = _CLOSED
        events = self._events
        if events is None:
            events = self._events = self._judge(body)
            if events is None:
                return ()
        try:
            frames = events.read(body)
        except EventTooLongError:
            self.end = DisconnectReason.TOO_BIG
            return ()
        if self.end is _CLOSED:
            frames += self._last_line()
        return frames

    def connection_closed(self, *, in_order: bool) -> Sequence[bytes]:
        """The server closed the connection. Return the frames that this ends; `end` is set."""
        if self.end is not None:
            return ()
        self.end = DisconnectReason.LINE_LOST
        if self._events is None:
            self.refusal = self.refusal or Refusal(DialFailure.HANDSHAKE, "no response")
        elif in_order:
            try:
                self.response.connection_closed()
            except BrokenResponseError:
                return ()
            self.end = _CLOSED
            return self._last_line()
        return ()

    def _judge(self, body: bytes) -> StreamReader | None:
        """Judge the head, if it has come. Return the reader of its events; None: there are none."""
        head = self.head
        if self.refusal is None:
            if head is None:
                if self.end is not None:
                    self.refusal = Refusal(DialFailure.HANDSHAKE, "no HTTP response")
                return None
            self.refusal = refusal_of(head, self._accept)
        if self.refusal is not None:
            self.excerpt += body[: EXCERPT_BYTES - len(self.excerpt)]
            return None
        assert head is not None
        self.response.accept()
        is_lines = _JSON_LINES in self._accept and head.content_type == _JSON_LINES
        return (JsonLinesReader if is_lines else EventStreamReader)(self._frame_bytes)

    def _last_line(self) -> list[bytes]:
        """Return the last line of JSON lines, which needs no end. An event must be complete."""
        return self._events.read(b"\n") if isinstance(self._events, JsonLinesReader) else []
