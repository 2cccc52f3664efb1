"""What a turn told so far, in the words of this wire: an agent that keeps nothing needs it again.

A response that ends with a request for an approval goes on in another one, whose request has the
message so far.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from turnwire.core import safe_json
from turnwire.core.body.conversation import Call, Result
from turnwire.core.bounds import OPEN_BLOCKS_MAX
from turnwire.dialects.ui_stream.messages import CallPiece, PartsPiece, ResultPiece

KEPT_MAX: Final = 1_048_576
"""Most bytes of a turn that are kept. A longer turn cannot go on in another response."""

_PIECE_BYTES: Final = 320
"""About what a piece takes beside its JSON."""

_DELTAS_MAX: Final = 256
"""Most deltas of a text that are kept before they are joined."""

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
        self._texts: list[list[str]] = []
        """The deltas of the texts that are no parts yet, in the order in which they began."""
        self._open: dict[str, list[str]] = {}
        """Those of them that were not ended, by the agent's ids."""
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
        self._open.clear()

    def pieces(self) -> Sequence[bytes]:
        self.end_texts()
        return self._pieces

    def text(self, text_id: str, delta: str) -> None:
        if self._has_room(len(delta)):
            deltas = self._open.get(text_id)
            if deltas is None:
                deltas = self._begin_text(text_id)
            deltas.append(delta)
            if len(deltas) > _DELTAS_MAX:
                deltas[:] = ["".join(deltas)]

    def end_text(self, text_id: str) -> None:
        """The text is over. It becomes a part when no other is open: parts are in order."""
        if self._open.pop(text_id, None) and not self._open:
            self.end_texts()

    def end_texts(self) -> None:
        """All texts are over: what follows are others, or none."""
        texts = [safe_json.join_surrogates("".join(deltas)) for deltas in self._texts]
        self._texts.clear()
        self._open.clear()
        for text in texts:
            part = b'{"type":"text","text":' + msgspec.json.encode(text) + b"}"
            self._add_part(part, len(part) - len(text))

    def _begin_text(self, text_id: str) -> list[str]:
        if len(self._texts) >= OPEN_BLOCKS_MAX:
            self.end_texts()
        deltas: list[str] = []
        self._texts.append(deltas)
        self._open[text_id] = deltas
        return deltas

    def step(self) -> None:
        self.end_texts()
        self._add_part(_STEP, len(_STEP))

    def call(self, call: Call) -> None:
        self.end_texts()
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
