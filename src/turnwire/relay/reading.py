"""The frames of one WebSocket, as they come: which of them are messages, and when one is whole.

Whole short text frames are cut out by `plain`. What is here is the rest of an agent's text: long
frames, and messages in several. They are put together without a second copy, since one may have
32 MiB. Pings, pongs, the close and whatever is no sound WebSocket go to the library, a frame at
a time: what is sound stays its decision. tests/relay/test_plain.py holds both equal to it.
"""

import io
from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from turnwire.core.bounds import CONTROLS_MAX, CONTROLS_PER_S, FRAGMENT_BYTES, FRAGMENTS_MAX
from turnwire.relay import plain
from turnwire.relay.leaving import Leaving

PIECE_BYTES: Final = 4_096
"""How much is cut at a time: of the shortest frames it has two thousand."""

BATCH: Final = 256
"""Short messages that are handed on together."""

_FIN: Final = 0x80
_TEXT: Final = 0x1
_CONTINUATION: Final = 0x0
_BINARY: Final = 0x2
_CONTROL: Final = 0x8
_CONTROL_BYTES_MAX: Final = 125
_LONGEST_HEAD: Final = 10


class ForLibrary(Struct, frozen=True):
    """What the library is to read: a control frame, or what it will find fault with."""

    data: bytes
    is_sound: bool


Read: TypeAlias = list[bytes] | ForLibrary | Leaving
"""Messages in a row; what the library is to read; why the connection is of no more use."""


class Controls:
    """How many control frames may come: hundreds at once, and then a few a second."""

    __slots__ = ("_at", "_left")

    def __init__(self) -> None:
        self._left = float(CONTROLS_MAX)
        self._at = 0.0

    def take(self, now: float) -> bool:
        """Count one that came at this time. False: it is one too many."""
        self._left = min(float(CONTROLS_MAX), self._left + (now - self._at) * CONTROLS_PER_S) - 1
        self._at = now
        return self._left >= 0


class Reader:
    """Takes reads, gives what is in them. A message has at most `longest` bytes."""

    __slots__ = (
        "_fragments",
        "_is_last",
        "_longest",
        "_message",
        "_message_bytes",
        "_to_come",
        "begun",
    )

    def __init__(self, longest: int) -> None:
        self.begun = b""
        """A short frame, or a head, as far as it came."""
        self._longest = longest
        self._message: io.BytesIO | None = None
        """A message that is long or in fragments, as far as it came."""
        self._message_bytes = 0
        self._fragments = 0
        self._to_come = 0
        """Bytes of the fragment that is under way."""
        self._is_last = False
        """Whether that is the last one."""

    @property
    def held_bytes(self) -> int:
        return len(self.begun) + self._message_bytes - self._to_come

    @property
    def is_between(self) -> bool:
        """Whether the next byte, or `begun`, begins a message."""
        return self._message is None

    def discard(self) -> None:
        """Keep nothing of what came."""
        self.begun, self._message = b"", None
        self._message_bytes = self._to_come = 0

    def read(self, data: bytes) -> Iterator[Read]:
        """Read on. Each step of the iterator is short, and whoever iterates may pause in between.

        After a `Leaving` there is nothing more.
        """
        at = 0
        while at < len(data):
            if self._to_come:
                took = data[at : at + self._to_come]
                at += len(took)
                yield self._took(took)
                continue
            piece, self.begun = self.begun + data[at : at + PIECE_BYTES], b""
            at = min(at + PIECE_BYTES, len(data))
            while piece and not self._to_come:
                frames: list[bytes] = []
                is_plain = False
                if self._message is None:
                    frames, piece, is_plain = plain.cut(piece, self._longest)
                for first in range(0, len(frames), BATCH):
                    yield frames[first : first + BATCH]
                if is_plain or (head := _Head.of(piece)) is None:
                    self.begun = piece
                    break
                if head.is_control:
                    if len(piece) < head.end:
                        self.begun = piece
                        break
                    yield ForLibrary(piece[: head.end], is_sound=True)
                    piece = piece[head.end :]
                    continue
                read = self._begin(head)
                if read is not None:
                    yield ForLibrary(piece, is_sound=False) if read is Leaving.BROKEN else read
                    return
                piece = piece[head.size :]
                if not self._to_come:
                    yield self._took(b"")
            if self._to_come:
                at -= len(piece)

    def _begin(self, head: "_Head") -> Leaving | None:
        """A frame of a message begins. Returns why it must not."""
        if head.opcode == _BINARY and head.is_plain:
            return Leaving.BINARY
        expected = _TEXT if self._message is None else _CONTINUATION
        if head.opcode != expected or not head.is_plain:
            return Leaving.BROKEN
        if self._message_bytes + head.payload > self._longest:
            return Leaving.TOO_BIG
        if self._message is None:
            self._message, self._fragments = io.BytesIO(), 0
        self._message_bytes += head.payload
        self._to_come = head.payload
        self._is_last = head.is_last
        self._fragments += 1
        if self._fragments > FRAGMENTS_MAX + self._message_bytes // FRAGMENT_BYTES:
            return Leaving.UNSOUND
        return None

    def _took(self, data: bytes) -> Read:
        """Bytes of a fragment came, perhaps its last ones."""
        message = self._message
        assert message is not None
        message.write(data)
        self._to_come -= len(data)
        if self._to_come or not self._is_last:
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
        """Read a head; None while it is not whole."""
        if len(data) < 2:  # noqa: PLR2004 (the shortest head)
            return None
        length = data[1] & 0x7F
        size = {126: 4, 127: _LONGEST_HEAD}.get(length, 2)
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
        """Whether it has no extension's bit and no mask."""
        return not self.first & 0x70 and not self.is_masked

    @property
    def is_control(self) -> bool:
        """Whether it is a sound control frame: the library is given it when it is whole."""
        is_sound = self.is_plain and self.is_last and self.payload <= _CONTROL_BYTES_MAX
        return is_sound and self.opcode >= _CONTROL
