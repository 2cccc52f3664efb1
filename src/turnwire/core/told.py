"""What the client was told so far, in lengths and hashes.

At its end an agent may repeat the text of its turn: all of it, or what came
after the last tool. What was streamed is not kept (a stream's memory does not
grow with its turn), so lengths and running hashes tell whether the repetition
starts with it, and from where it goes on.
"""

import zlib

_SETTLE_CHARS = 16_384
"""Deltas are hashed by the batch; at most this many characters wait for it."""

_EARLIER_MAX = 64
"""Stretches before the last tool that are remembered."""


class _Stretch:
    """A run of text: its length in characters, and the hash of its UTF-8."""

    __slots__ = ("_crc", "chars")

    def __init__(self) -> None:
        self.chars = 0
        self._crc = 0

    def add(self, text: str) -> None:
        self.chars += len(text)
        self._crc = zlib.crc32(text.encode(), self._crc)

    def begins(self, text: str) -> bool:
        """Whether this run is the beginning of `text`."""
        head = text[: self.chars]
        return len(head) == self.chars and zlib.crc32(head.encode()) == self._crc


class _Core:
    """A run of text without the white space around it: agents trim what they repeat."""

    __slots__ = ("_space", "stretch")

    def __init__(self) -> None:
        self.stretch = _Stretch()
        self._space = ""

    def add(self, text: str) -> None:
        if not self.stretch.chars:
            text = text.lstrip()
        solid = text.rstrip()
        if solid:
            self.stretch.add(self._space + solid)
            self._space = text[len(solid) :]
        elif self.stretch.chars:
            # Longer white space than this is no longer the same text when it is trimmed.
            self._space = (self._space + text)[:_SETTLE_CHARS]

    def begins(self, text: str) -> bool:
        """Whether `text` begins with this run, and not in the middle of a word of it."""
        rest = text[self.stretch.chars :]
        return self.stretch.begins(text) and not rest[:1].isalnum()


class Told:
    """The text sent in one turn."""

    __slots__ = ("_again", "_core", "_earlier", "_fresh", "_fresh_chars", "_since_tool", "_whole")

    def __init__(self) -> None:
        self._fresh: list[str] = []
        self._fresh_chars = 0
        self._whole = _Stretch()
        self._since_tool = _Stretch()
        self._core = _Core()
        self._earlier: list[_Core] = []
        self._again: _Stretch | None = None
        """What was sent since the turn was started over."""

    def add(self, text: str) -> None:
        """Note text that was sent. It must be free of halves of surrogate pairs."""
        self._fresh.append(text)
        self._fresh_chars += len(text)
        if self._fresh_chars > _SETTLE_CHARS:
            self._settle()

    def tool(self) -> None:
        """Note that a tool chunk was sent: what follows is "after the last tool"."""
        self._settle()
        if self._core.stretch.chars:
            if len(self._earlier) == _EARLIER_MAX:
                del self._earlier[0]
            self._earlier.append(self._core)
        if self._since_tool.chars:
            self._since_tool = _Stretch()
            self._core = _Core()

    def start_over(self) -> None:
        """Note that the turn goes on under another id: its final text may be the new one's."""
        self._settle()
        self._again = _Stretch()
        self._since_tool = _Stretch()
        self._core = _Core()
        self._earlier.clear()

    def missing(self, final_text: str) -> str:
        """The tail of `final_text` that was not sent; empty if it tells another story.

        A turn that ends on a tool leaves it open whether its final text comes
        after that tool or repeats what came before. It repeats if it begins
        with one of the earlier stretches.
        """
        self._settle()
        if self._whole.begins(final_text):
            return final_text[self._whole.chars :]
        if self._again is not None and self._again.begins(final_text):
            return final_text[self._again.chars :]
        if not self._since_tool.chars and self._repeats(final_text):
            return ""
        if self._since_tool.begins(final_text):
            return final_text[self._since_tool.chars :]
        return ""

    def _repeats(self, final_text: str) -> bool:
        plain = final_text.strip()
        return any(earlier.begins(plain) for earlier in self._earlier)

    def _settle(self) -> None:
        text = "".join(self._fresh)
        for run in (self._whole, self._since_tool, self._core):
            run.add(text)
        if self._again is not None:
            self._again.add(text)
        self._fresh.clear()
        self._fresh_chars = 0
