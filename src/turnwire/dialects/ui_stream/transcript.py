"""What a turn told so far, in the words of this wire: an agent that keeps nothing needs it again.

A response that ends with a request for an approval goes on in another one, whose request has the
message so far.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from turnwire.core import safe_json
from turnwire.core.body.conversation import Call, Result
from turnwire.dialects.ui_stream.messages import CallPiece, PartsPiece, ResultPiece

KEPT_MAX: Final = 1_048_576
"""Most bytes of a turn that are kept. A longer turn cannot go on in another response."""

_PIECE_BYTES: Final = 320
"""About what a piece takes beside its JSON."""

_TEXTS_MAX: Final = 256
"""Most deltas that are kept before they are joined."""

_STEP: Final = b'{"type":"step-start"}'


class Transcript:
    """The message of one turn, in the pieces that `messages.joined` takes."""

    def __init__(self, message_id: str, *, goes_on: bool = False) -> None:
        """`goes_on`: the message has a beginning, which others have."""
        self.is_whole = True
        """Whether all of the turn is kept."""
        self._message_id = message_id
        self._next_id = f"{message_id}:on"
        self._has_begun = goes_on
        self._pieces: list[bytes] = []
        self._texts: list[str] = []
        self._bytes = 0

    @property
    def kept_bytes(self) -> int:
        """About how much memory it takes."""
        return self._bytes if self.is_whole else 0

    def forget(self) -> None:
        """Keep nothing of the turn, from now on."""
        self.is_whole = False
        self._pieces.clear()
        self._texts.clear()

    def pieces(self) -> Sequence[bytes]:
        self.end_text()
        return self._pieces

    def text(self, delta: str) -> None:
        if self._has_room(len(delta)):
            self._texts.append(delta)
            if len(self._texts) > _TEXTS_MAX:
                self._texts = ["".join(self._texts)]

    def end_text(self) -> None:
        """What follows is another text, or none."""
        text = safe_json.join_surrogates("".join(self._texts))
        self._texts.clear()
        if text:
            part = b'{"type":"text","text":' + msgspec.json.encode(text) + b"}"
            self._add_part(part, len(part) - len(text))

    def step(self) -> None:
        self.end_text()
        self._add_part(_STEP, len(_STEP))

    def call(self, call: Call) -> None:
        self.end_text()
        if not self._has_begun:
            self.step()
        piece = CallPiece.of(call)
        self._add(piece, len(piece) + len(call.call_id))

    def result(self, result: Result) -> None:
        piece = ResultPiece.of(result)
        self._add(piece, len(piece) + len(result.call_id))

    def _add_part(self, part: bytes, size: int) -> None:
        message_id = self._next_id if self._has_begun else self._message_id
        self._has_begun = True
        self._add(PartsPiece.of(message_id, part), size)

    def _add(self, piece: bytes, size: int) -> None:
        """Keep a piece, which takes `size` bytes more than is counted already."""
        if self._has_room(size + _PIECE_BYTES):
            self._pieces.append(piece)

    def _has_room(self, size: int) -> bool:
        self._bytes += size
        if self._bytes > KEPT_MAX and self.is_whole:
            self.forget()
        return self.is_whole
