"""The input of one tool call that comes in pieces, as text of JSON.

Use: `add` each piece, and send what it returns. `json()` is the input at the end of the pieces. It
is used only if the agent does not send the whole input too.
"""

from msgspec import Raw

from turnwire.core import safe_json


class StreamedInput:
    """The pieces of one input, joined. `half` is half of a surrogate pair."""

    __slots__ = ("_half", "_text", "is_too_long")

    def __init__(self) -> None:
        self._text = bytearray()
        self._half = ""
        self.is_too_long = False
        """Whether the text was dropped."""

    @property
    def size(self) -> int:
        """The bytes that are kept."""
        return len(self._text)

    def add(self, text: str) -> str:
        """Append a piece. Returns the characters of it that are complete."""
        complete, self._half = safe_json.split_half(self._half + text)
        piece = safe_json.join_surrogates(complete)
        self._text += piece.encode()
        return piece

    def drop(self) -> None:
        """Forget the text, which is too long to be kept."""
        self._text.clear()
        self.is_too_long = True

    def json(self) -> Raw | None:
        """Return the input; None if the pieces hold white space alone."""
        if self.is_too_long:
            return Raw(safe_json.TOO_LONG)
        text = self._text.decode() + self._half
        return safe_json.from_text(text) if text.strip() else None
