"""What the client was told so far, in lengths and hashes.

At its end an agent may repeat the text of its turn: all of it, or what came
after the last tool. What was streamed is not kept (a stream's memory does not
grow with its turn), so lengths and running hashes tell whether the repetition
starts with it, and from where it goes on.
"""

import zlib

_SETTLE_CHARS = 16_384
"""Deltas are hashed by the batch; at most this many characters wait for it."""


class _Stretch:
    """A run of text: its length in characters and the hash of its UTF-8."""

    def __init__(self) -> None:
        self.chars = 0
        self._crc = 0

    def add(self, text: str, data: bytes) -> None:
        self.chars += len(text)
        self._crc = zlib.crc32(data, self._crc)

    def begins(self, text: str) -> bool:
        """Whether this run is the beginning of `text`."""
        head = text[: self.chars]
        return len(head) == self.chars and zlib.crc32(head.encode()) == self._crc

    def is_all(self, text: str) -> bool:
        """Whether this run is `text`."""
        return len(text) == self.chars and self.begins(text)


class Told:
    """The text sent in one turn."""

    def __init__(self) -> None:
        self._fresh: list[str] = []
        self._fresh_chars = 0
        self._whole = _Stretch()
        self._since_tool = _Stretch()
        self._before_tool = _Stretch()

    def add(self, text: str) -> None:
        """Note text that was sent. It must be free of halves of surrogate pairs."""
        self._fresh.append(text)
        self._fresh_chars += len(text)
        if self._fresh_chars > _SETTLE_CHARS:
            self._settle()

    def tool(self) -> None:
        """Note that a tool chunk was sent: what follows is "after the last tool"."""
        self._settle()
        if self._since_tool.chars:
            self._before_tool = self._since_tool
            self._since_tool = _Stretch()

    def missing(self, final_text: str) -> str:
        """The tail of `final_text` that was not sent; empty if it tells another story."""
        self._settle()
        if self._whole.begins(final_text):
            return final_text[self._whole.chars :]
        if not self._since_tool.chars and self._before_tool.is_all(final_text):
            return ""  # the turn ended on a tool, and says its last words again
        if self._since_tool.begins(final_text):
            return final_text[self._since_tool.chars :]
        return ""

    def _settle(self) -> None:
        text = "".join(self._fresh)
        data = text.encode()
        self._whole.add(text, data)
        self._since_tool.add(text, data)
        self._fresh.clear()
        self._fresh_chars = 0
