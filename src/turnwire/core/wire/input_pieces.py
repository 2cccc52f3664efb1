"""The inputs of open calls that come in pieces, until each is whole."""

from typing import Final

from turnwire.core import safe_json
from turnwire.core.bounds import INPUT_BYTES_MAX

_TOO_LONG: Final = safe_json.TOO_LONG.decode()


class InputPieces:
    """The inputs of a turn, by the ids of their calls.

    All of them have at most `INPUT_BYTES_MAX` bytes. The one that passes that limit is dropped: the
    client has its pieces. The pieces are kept joined, since a string has more of an overhead than
    most pieces have text.
    """

    def __init__(self) -> None:
        self.kept_bytes = 0
        self._inputs: dict[str, bytearray | None] = {}
        """None: the input was too long."""

    def add(self, call_id: str, piece: str) -> None:
        if not piece:
            return
        joined = self._inputs.setdefault(call_id, bytearray())
        if joined is None:
            return
        data = piece.encode(errors="surrogatepass")
        if self.kept_bytes + len(data) <= INPUT_BYTES_MAX:
            self.kept_bytes += len(data)
            joined += data
            return
        self.kept_bytes -= len(joined)
        self._inputs[call_id] = None

    def so_far(self, call_id: str) -> str:
        """The input as far as it has come; another JSON value for one that was too long."""
        joined = self._inputs.get(call_id, b"")
        return _TOO_LONG if joined is None else joined.decode(errors="surrogatepass")

    def take(self, call_id: str) -> str:
        """Return the input, as `so_far`, and keep it no longer."""
        text = self.so_far(call_id)
        self.kept_bytes -= len(self._inputs.pop(call_id, None) or b"")
        return text
