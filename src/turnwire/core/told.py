"""What the client was told so far, in lengths and hashes.

At its end an agent may repeat the text of its turn: all of it, or what came
after one of its tools. What was streamed is not kept (a stream's memory does
not grow with its turn), so lengths and running hashes tell whether the
repetition starts with it, and from where it goes on.

Agents trim what they repeat, and join it with line breaks of their own. So where
no text is equal as it stands, the white space around each of its stretches, those
between tools, is not compared.
"""

import re
import zlib
from collections.abc import Sequence
from typing import Final

_SETTLE_CHARS = 16_384
"""Deltas are hashed by the batch; at most this many characters wait for it."""

_EARLIER_MAX = 64
"""Stretches before the last tool that are remembered."""

_SPACE: Final = re.compile(r"\s*")


class _Run:
    """A run of text: its length in characters, and the hash of its UTF-8."""

    __slots__ = ("_crc", "chars")

    def __init__(self, chars: int = 0, crc: int = 0) -> None:
        self.chars = chars
        self._crc = crc

    def so_far(self) -> "_Run":
        """As it is now, whatever is added to it."""
        return _Run(self.chars, self._crc)

    def add(self, text: str) -> None:
        self.chars += len(text)
        self._crc = zlib.crc32(text.encode(), self._crc)

    def stands_in(self, text: "_Hashed", at: int = 0) -> bool:
        """Whether this run stands there in `text`."""
        return at + self.chars <= len(text.text) and text.crc(at, self.chars) == self._crc


class _Hashed:
    """A text, each piece of which is hashed once: stretches are looked for at equal places."""

    __slots__ = ("_crcs", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._crcs: dict[tuple[int, int], int] = {}

    def crc(self, at: int, chars: int) -> int:
        crc = self._crcs.get((at, chars))
        if crc is None:
            crc = self._crcs[at, chars] = zlib.crc32(self.text[at : at + chars].encode())
        return crc


class _Stretch:
    """A run of text without the white space around it."""

    __slots__ = ("_space", "core")

    def __init__(self) -> None:
        self.core = _Run()
        self._space = ""

    def add(self, text: str) -> None:
        if not self.core.chars:
            text = text.lstrip()
        solid = text.rstrip()
        if solid:
            self.core.add(self._space + solid)
            self._space = text[len(solid) :]
        elif self.core.chars:
            # Longer white space than this is no longer the same text when it is trimmed.
            self._space = (self._space + text)[:_SETTLE_CHARS]


class Told:
    """The text sent in one turn."""

    __slots__ = ("_again", "_earlier", "_fresh", "_fresh_chars", "_since_tool", "_space", "_whole")

    def __init__(self) -> None:
        self._fresh: list[str] = []
        self._fresh_chars = 0
        self._whole = _Stretch()
        self._since_tool = self._whole
        """All of it, until a tool is told."""
        self._earlier: Sequence[_Run] = ()
        """What was said before the last tool, tool by tool, without the white space around it."""
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
        if self._since_tool.core.chars:
            earlier = self._earlier[1 - _EARLIER_MAX :]
            self._earlier = (*earlier, self._since_tool.core.so_far())
            self._since_tool = _Stretch()

    def start_over(self) -> None:
        """Note that the turn goes on under another id: its final text may be the new one's."""
        self._settle()
        self._again = _Stretch()
        self._since_tool = _Stretch()
        self._earlier = ()

    def missing(self, final_text: str) -> str:
        """The tail of `final_text` that was not sent; empty if it tells another story.

        A turn that ends on a tool leaves it open whether its final text comes
        after that tool or repeats what came before. It repeats if it begins
        with what was said before one of the tools.
        """
        self._settle()
        final = _Hashed(final_text)
        for run in (self._whole, self._again):
            if run is not None and (end := _end(run, final)) is not None:
                return self._tail(final_text, end)
        since = self._since_tool
        ended_on_tool = not since.core.chars
        said = self._earlier if ended_on_tool else [*self._earlier, since.core]
        repeats = False
        for first in range(len(self._earlier)):
            ends = _ends(said[first:], final)
            if not ends or (len(ends) == 1 and _parts_a_word(final_text, ends[0])):
                continue
            if first + len(ends) == len(said):
                return self._tail(final_text, ends[-1])
            repeats = True
        if (end := _end(since, final)) is not None:
            return self._tail(final_text, end)
        return self._tail(final_text, 0) if ended_on_tool and not repeats else ""

    def _tail(self, final_text: str, end: int) -> str:
        """What follows, without the white space that was sent already."""
        rest = final_text[end:]
        opens_block = self._whole.core.chars and not self._since_tool.core.chars
        if rest.isspace() and opens_block:
            return ""  # a block of its own, with nothing to read in it
        sent = 0
        while sent < len(rest) and self._space[sent : sent + 1] == rest[sent]:
            sent += 1
        return rest[sent:]

    def _settle(self) -> None:
        text = "".join(self._fresh)
        self._whole.add(text)
        if self._since_tool is not self._whole:
            self._since_tool.add(text)
        if self._again is not None:
            self._again.add(text)
        space = text[len(text.rstrip()) :]
        self._space = (self._space + space if space == text else space)[:_SETTLE_CHARS]
        self._fresh.clear()
        self._fresh_chars = 0


def _end(run: _Stretch, text: _Hashed) -> int | None:
    """Where a run ends that `text` begins with; the white space it ends with may be missing."""
    at = _past_space(text.text, 0)
    return at + run.core.chars if run.core.chars and run.core.stands_in(text, at) else None


def _ends(said: Sequence[_Run], text: _Hashed) -> list[int]:
    """Where those of the stretches end that `text` begins with, one after the other."""
    ends: list[int] = []
    at = 0
    for run in said:
        at = _past_space(text.text, at)
        if not run.stands_in(text, at):
            break
        at += run.chars
        ends.append(at)
    return ends


def _past_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _parts_a_word(text: str, at: int) -> bool:
    return text[at - 1 : at].isalnum() and text[at : at + 1].isalnum()
