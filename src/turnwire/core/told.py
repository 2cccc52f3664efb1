"""What the client was told so far, in lengths and hashes.

At its end an agent may repeat the text of its turn: all of it, or what came
after one of its tools. What was streamed is not kept (a stream's memory does
not grow with its turn), so lengths and running hashes tell whether the
repetition starts with it, and from where it goes on.

Agents trim what they repeat, and join it with line breaks of their own. So where
no text is equal as it stands, it is compared without any white space.
"""

import zlib
from collections.abc import Sequence
from typing import Final

_SETTLE_CHARS = 16_384
"""Deltas are hashed by the batch; at most this many characters wait for it."""

_EARLIER_MAX = 64
"""Stretches before the last tool that are remembered."""

_SPACE: Final = bytes(byte for byte in range(128) if chr(byte).isspace())


class _Stretch:
    """A run of text: its length and hash, and those of it without white space."""

    __slots__ = ("_crc", "_solid_crc", "chars", "solid_bytes")

    def __init__(self) -> None:
        self.chars = 0
        self._crc = 0
        self.solid_bytes = 0
        self._solid_crc = 0

    def add(self, text: str, data: bytes, solid: bytes) -> None:
        """Go on with a text, which comes in UTF-8 too, and as `_solid` makes it."""
        self.chars += len(text)
        self._crc = zlib.crc32(data, self._crc)
        self.solid_bytes += len(solid)
        self._solid_crc = zlib.crc32(solid, self._solid_crc)

    def begins(self, text: str) -> bool:
        """Whether this run is the beginning of `text`."""
        head = text[: self.chars]
        return len(head) == self.chars and zlib.crc32(head.encode()) == self._crc

    def stands_in(self, solid: bytes, at: int = 0) -> bool:
        """Whether this run stands there in a text without white space."""
        there = solid[at : at + self.solid_bytes]
        return len(there) == self.solid_bytes and zlib.crc32(there) == self._solid_crc


class Told:
    """The text sent in one turn."""

    __slots__ = ("_again", "_earlier", "_fresh", "_fresh_chars", "_since_tool", "_space", "_whole")

    def __init__(self) -> None:
        self._fresh: list[str] = []
        self._fresh_chars = 0
        self._whole = _Stretch()
        self._since_tool = _Stretch()
        self._earlier: list[_Stretch] = []
        """What was said before the last tool, tool by tool."""
        self._again: _Stretch | None = None
        """What was sent since the turn was started over."""
        self._space = ""
        """The white space that all of it ends with."""

    def add(self, text: str) -> None:
        """Note text that was sent. It must be free of halves of surrogate pairs."""
        self._fresh.append(text)
        self._fresh_chars += len(text)
        if self._fresh_chars > _SETTLE_CHARS:
            self._settle()

    def tool(self) -> None:
        """Note that a tool chunk was sent: what follows is "after the last tool"."""
        self._settle()
        if self._since_tool.solid_bytes:
            if len(self._earlier) == _EARLIER_MAX:
                del self._earlier[0]
            self._earlier.append(self._since_tool)
        self._since_tool = _Stretch()

    def start_over(self) -> None:
        """Note that the turn goes on under another id: its final text may be the new one's."""
        self._settle()
        self._again = _Stretch()
        self._since_tool = _Stretch()
        self._earlier.clear()

    def missing(self, final_text: str) -> str:
        """The tail of `final_text` that was not sent; empty if it tells another story.

        A turn that ends on a tool leaves it open whether its final text comes
        after that tool or repeats what came before. It repeats if it begins
        with what was said before one of the tools.
        """
        self._settle()
        solid = _solid(final_text, final_text.encode())
        for run in (self._whole, self._again, self._since_tool):
            if run is None or not run.solid_bytes:
                continue
            if run.begins(final_text):
                return final_text[run.chars :]
            if run.stands_in(solid):
                return self._tail(final_text, run.solid_bytes)
        return self._beyond_stretches(final_text, solid)

    def _beyond_stretches(self, final_text: str, solid: bytes) -> str:
        """What is missing of a text that is neither the whole turn's nor that of its end.

        It may repeat what was said since an earlier tool, or some of that.
        """
        ended_on_tool = not self._since_tool.solid_bytes
        said = self._earlier if ended_on_tool else [*self._earlier, self._since_tool]
        for first in range(len(self._earlier)):
            ends = _ends(said[first:], solid)
            if not ends or (len(ends) == 1 and _parts_a_word(final_text, ends[0])):
                continue
            return self._tail(final_text, ends[-1]) if first + len(ends) == len(said) else ""
        return self._tail(final_text, 0) if ended_on_tool else ""

    def _tail(self, final_text: str, solid_bytes: int) -> str:
        """What follows so much, without the white space that was sent already."""
        rest = final_text[_after(final_text, solid_bytes) :]
        if not rest or rest.isspace():
            return ""
        sent = 0
        while self._space[sent : sent + 1] == rest[sent]:
            sent += 1
        return rest[sent:]

    def _settle(self) -> None:
        text = "".join(self._fresh)
        data = text.encode()
        solid = _solid(text, data)
        for run in (self._whole, self._since_tool, self._again):
            if run is not None:
                run.add(text, data, solid)
        space = text[len(text.rstrip()) :]
        self._space = (space if solid else self._space + space)[:_SETTLE_CHARS]
        self._fresh.clear()
        self._fresh_chars = 0


def _solid(text: str, data: bytes) -> bytes:
    """A text, which comes in UTF-8 too, without any white space."""
    return data.translate(None, _SPACE) if text.isascii() else "".join(text.split()).encode()


def _after(text: str, solid_bytes: int) -> int:
    """Where in a text so much of it is over, its white space not counted."""
    before, end = 0, solid_bytes
    while end < len(text) and _solid_bytes(text[:end]) < solid_bytes:
        end *= 2
    while end - before > 1:
        middle = (before + end) // 2
        size = _solid_bytes(text[before:middle])
        if size < solid_bytes:
            solid_bytes -= size
            before = middle
        else:
            end = middle
    return end


def _solid_bytes(text: str) -> int:
    return len(_solid(text, text.encode()))


def _ends(said: Sequence[_Stretch], solid: bytes) -> list[int]:
    """Where those of the stretches end that stand at the beginning, one after the other."""
    ends: list[int] = []
    at = 0
    for run in said:
        if not run.stands_in(solid, at):
            break
        at += run.solid_bytes
        ends.append(at)
    return ends


def _parts_a_word(text: str, solid_bytes: int) -> bool:
    at = _after(text, solid_bytes)
    return text[at - 1 : at].isalnum() and text[at : at + 1].isalnum()
