"""Split the bytes of one WebSocket into messages: the slow path beside `websocket_fast_path`.

`Reader.read` takes the bytes of a socket read, and yields messages, input for the library, or the
reason to end the connection. `websocket_fast_path` splits off the complete short text frames. The
`Reader` assembles the other text: long frames, and messages in several frames. It makes no second
copy, since a message may have 32 MiB. Pings, pongs, the close and invalid frames go to the library,
one frame at a time: the library decides what is valid.

`tests/relay/agent/test_websocket_fast_path.py` compares both paths with the library.
"""

import io
from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from turnwire.core.bounds import CONTROLS_MAX, CONTROLS_PER_S, FRAGMENT_BYTES, FRAGMENTS_MAX
from turnwire.relay.agent import websocket_fast_path
from turnwire.relay.agent.failures import DisconnectReason

PIECE_BYTES: Final = 4_096
"""Bytes that are split at a time: at most two thousand frames."""

BATCH: Final = 256
"""Short messages that are yielded together."""

_FIN: Final = 0x80
_TEXT: Final = 0x1
_CONTINUATION: Final = 0x0
_BINARY: Final = 0x2
_CONTROL: Final = 0x8
_CONTROL_BYTES_MAX: Final = 125
_HEAD_BYTES_MAX: Final = 10


class ForLibrary(Struct, frozen=True):
    """Input for the library: a control frame (`is_valid`), or bytes that it will reject."""

    data: bytes
    is_valid: bool


ReadResult: TypeAlias = list[bytes] | ForLibrary | DisconnectReason
"""Messages in order; or input for the library; or why the connection must end."""


class Controls:
    """Rate limit for control frames: hundreds at once, and then a few per second."""

    __slots__ = ("_tokens", "_updated_at")

    def __init__(self) -> None:
        self._tokens = float(CONTROLS_MAX)
        self._updated_at = 0.0

    def take(self, now: float) -> bool:
        """Count a control frame that came at this time. False: it exceeds the limit."""
        self._tokens = (
            min(float(CONTROLS_MAX), self._tokens + (now - self._updated_at) * CONTROLS_PER_S) - 1
        )
        self._updated_at = now
        return self._tokens >= 0


class Reader:
    """Splits socket reads into messages of at most `max_bytes`."""

    __slots__ = (
        "_fragments",
        "_is_last",
        "_max_bytes",
        "_message",
        "_message_bytes",
        "_missing_bytes",
        "partial",
    )

    def __init__(self, max_bytes: int) -> None:
        self.partial = b""
        """The received part of an incomplete short frame or head."""
        self._max_bytes = max_bytes
        self._message: io.BytesIO | None = None
        """The received part of a message that is long or in fragments."""
        self._message_bytes = 0
        self._fragments = 0
        self._missing_bytes = 0
        """Bytes of the current fragment that have not come yet."""
        self._is_last = False
        """Whether the current fragment is the last one."""

    @property
    def held_bytes(self) -> int:
        return len(self.partial) + self._message_bytes - self._missing_bytes

    @property
    def is_between_messages(self) -> bool:
        """Whether the next byte begins a message, or continues `partial`."""
        return self._message is None

    def discard(self) -> None:
        """Discard all received data."""
        self.partial, self._message = b"", None
        self._message_bytes = self._missing_bytes = 0

    def read(self, data: bytes) -> Iterator[ReadResult]:
        """Read more data. Each step of the iterator is short, and the caller may pause in between.

        A `DisconnectReason` is the last item.
        """
        position = 0
        while position < len(data):
            if self._missing_bytes:
                part = data[position : position + self._missing_bytes]
                position += len(part)
                yield self._append(part)
                continue
            piece, self.partial = self.partial + data[position : position + PIECE_BYTES], b""
            position = min(position + PIECE_BYTES, len(data))
            while piece and not self._missing_bytes:
                frames: list[bytes] = []
                is_plain = False
                if self._message is None:
                    frames, piece, is_plain = websocket_fast_path.split_text_frames(
                        piece, self._max_bytes
                    )
                for first in range(0, len(frames), BATCH):
                    yield frames[first : first + BATCH]
                if is_plain or (head := _Head.of(piece)) is None:
                    self.partial = piece
                    break
                if head.is_control:
                    if len(piece) < head.end:
                        self.partial = piece
                        break
                    yield ForLibrary(piece[: head.end], is_valid=True)
                    piece = piece[head.end :]
                    continue
                problem = self._begin(head)
                if problem is not None:
                    yield (
                        ForLibrary(piece, is_valid=False)
                        if problem is DisconnectReason.BROKEN
                        else problem
                    )
                    return
                piece = piece[head.size :]
                if not self._missing_bytes:
                    yield self._append(b"")
            if self._missing_bytes:
                position -= len(piece)

    def _begin(self, head: "_Head") -> DisconnectReason | None:
        """Start a data frame. Return why the connection must end; None: the frame is valid."""
        if head.opcode == _BINARY and head.is_plain:
            return DisconnectReason.BINARY
        expected = _TEXT if self._message is None else _CONTINUATION
        if head.opcode != expected or not head.is_plain:
            return DisconnectReason.BROKEN
        if self._message_bytes + head.payload > self._max_bytes:
            return DisconnectReason.TOO_BIG
        if self._message is None:
            self._message, self._fragments = io.BytesIO(), 0
        self._message_bytes += head.payload
        self._missing_bytes = head.payload
        self._is_last = head.is_last
        self._fragments += 1
        if self._fragments > FRAGMENTS_MAX + self._message_bytes // FRAGMENT_BYTES:
            return DisconnectReason.UNSOUND
        return None

    def _append(self, data: bytes) -> ReadResult:
        """Add bytes to the current fragment. Return the message, if it is complete."""
        message = self._message
        assert message is not None
        message.write(data)
        self._missing_bytes -= len(data)
        if self._missing_bytes or not self._is_last:
            return []
        self._message = None
        self._message_bytes = 0
        return [message.getvalue()]


class _Head(Struct, frozen=True):
    """The head of a frame."""

    first: int
    size: int
    """Of the head, in bytes."""
    payload: int
    is_masked: bool

    @classmethod
    def of(cls, data: bytes) -> "_Head | None":
        """Read a head; None if it is incomplete."""
        if len(data) < 2:  # noqa: PLR2004 (the shortest head)
            return None
        length = data[1] & 0x7F
        size = {126: 4, 127: _HEAD_BYTES_MAX}.get(length, 2)
        if len(data) < size:
            return None
        payload = length if size == 2 else int.from_bytes(data[2:size], "big")  # noqa: PLR2004
        return cls(data[0], size, payload, is_masked=data[1] > 0x7F)  # noqa: PLR2004 (the bit)

    @property
    def opcode(self) -> int:
        return self.first & 0x0F

    @property
    def end(self) -> int:
        return self.size + self.payload

    @property
    def is_last(self) -> bool:
        return bool(self.first & _FIN)

    @property
    def is_plain(self) -> bool:
        """Whether the frame has no extension bit and no mask."""
        return not self.first & 0x70 and not self.is_masked

    @property
    def is_control(self) -> bool:
        """Whether it is a valid control frame. The library gets it when the frame is complete."""
        is_valid = self.is_plain and self.is_last and self.payload <= _CONTROL_BYTES_MAX
        return is_valid and self.opcode >= _CONTROL
