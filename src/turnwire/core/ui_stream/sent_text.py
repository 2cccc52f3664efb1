"""Lengths and hashes of the text that a stream has sent.

Use: call `add` for each text that is sent and `mark_tool` after each tool chunk. When the turn
ends, `unsent_suffix(final_text)` returns the part of the final text that the client lacks.

At the end of a turn an agent may repeat the text of the turn: all of it, or the part
after one of its tools. The sent text is not kept (the memory of a stream does not grow
with its turn). So lengths and running hashes show whether the repeated text starts with
the sent text, and where its new part begins.

Agents trim the text that they repeat, and join it with line breaks of their own. So the
text is compared in segments. A segment is the text between two tools. The white space
around a segment is not compared.
"""

import re
import zlib
from collections.abc import Sequence
from typing import Final

_SETTLE_CHARS = 16_384
"""Deltas are hashed in batches. At most this many characters wait for the next batch."""

_EARLIER_MAX = 64
"""Most segments before the last tool that are remembered."""

_SPACE: Final = re.compile(r"\s*")


class _Run:
    """A piece of text: its length in characters, and the CRC-32 of its UTF-8."""

    __slots__ = ("_crc", "chars")

    def __init__(self, chars: int = 0, crc: int = 0) -> None:
        self.chars = chars
        self._crc = crc

    def copy(self) -> "_Run":
        """Return a copy that later calls of `add` do not change."""
        return _Run(self.chars, self._crc)

    def add(self, text: str) -> None:
        self.chars += len(text)
        self._crc = zlib.crc32(text.encode(), self._crc)

    def occurs_in(self, text: "_HashedText", at: int = 0) -> bool:
        """Whether `text` has this piece at the position `at`."""
        return at + self.chars <= len(text.text) and text.crc(at, self.chars) == self._crc


class _HashedText:
    """A text that caches the hashes of its pieces.

    Several segments are compared at the same positions, so the same hashes are needed again.
    """

    __slots__ = ("_crcs", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._crcs: dict[tuple[int, int], int] = {}

    def crc(self, at: int, chars: int) -> int:
        crc = self._crcs.get((at, chars))
        if crc is None:
            crc = self._crcs[at, chars] = zlib.crc32(self.text[at : at + chars].encode())
        return crc


class _TrimmedRun:
    """A piece of text without the white space at its ends."""

    __slots__ = ("_space", "core")

    def __init__(self) -> None:
        self.core = _Run()
        self._space = ""

    def copy(self) -> "_TrimmedRun":
        """Return a copy that later calls of `add` do not change."""
        copied = _TrimmedRun()
        copied.core, copied._space = self.core.copy(), self._space
        return copied

    def add(self, text: str) -> None:
        if not self.core.chars:
            text = text.lstrip()
        solid = text.rstrip()
        if solid:
            self.core.add(self._space + solid)
            self._space = text[len(solid) :]
        elif self.core.chars:
            # Only so much white space is kept. A text with more of it in its middle does not match.
            self._space = (self._space + text)[:_SETTLE_CHARS]


class SentText:
    """Hashes of the text that was sent in one turn."""

    __slots__ = (
        "_batch",
        "_batch_chars",
        "_earlier",
        "_since_restart",
        "_since_tool",
        "_space",
        "_step",
        "_whole",
        "contradicted_chars",
    )

    def __init__(self) -> None:
        self._batch: list[str] = []
        self._batch_chars = 0
        self._whole = _TrimmedRun()
        self._since_tool = self._whole
        """The segment after the last tool. Until the first tool it is the whole text."""
        self._earlier: Sequence[_Run] = ()
        """The segments before the last tool, in order, without the white space around them."""
        self._since_restart: _TrimmedRun | None = None
        """The text sent since the turn was started over; None if it was not."""
        self._space = ""
        """The white space at the end of the whole text."""
        self._step: tuple[int, SentText] | None = None
        """The last step that was marked: its position, and the text before it."""
        self.contradicted_chars = 0
        """How long the final text is that does not go on with what was sent, if there was one."""

    def add(self, text: str) -> None:
        """Record text that was sent. It must not hold halves of surrogate pairs."""
        self._batch.append(text)
        self._batch_chars += len(text)
        if self._batch_chars > _SETTLE_CHARS:
            self._settle()

    def mark_step(self, position: int) -> None:
        """Record that a step begins, at this position among the parts that the agent told."""
        self._step = position, self.copy()

    def retracted(self, since: int) -> "SentText":
        """Return what stands when the parts from the position `since` on are taken back.

        The final text then lacks their text. What was sent before is known for the begin of the
        turn and that of the last step. After any other position, as after `start_over`.
        """
        if since == 0:
            return SentText()
        if self._step is None or self._step[0] != since:
            self.start_over()
            return self
        stands = self._step[1].copy()
        stands.mark_step(since)
        return stands

    def copy(self) -> "SentText":
        """Return a copy that later calls do not change: the text that was sent until now."""
        self._settle()
        copied = SentText()
        copied._whole = self._whole.copy()
        is_whole = self._since_tool is self._whole
        copied._since_tool = copied._whole if is_whole else self._since_tool.copy()
        copied._earlier, copied._space = self._earlier, self._space
        since = self._since_restart
        copied._since_restart = None if since is None else since.copy()
        return copied

    def mark_tool(self) -> None:
        """Record that a tool chunk was sent: the text that follows is a new segment."""
        self._settle()
        if self._since_tool.core.chars:
            earlier = self._earlier[1 - _EARLIER_MAX :]
            self._earlier = (*earlier, self._since_tool.core.copy())
            self._since_tool = _TrimmedRun()

    def start_over(self) -> None:
        """Record that the turn continues under another id.

        The final text may then hold the text since this call alone.
        """
        self._settle()
        self._since_restart = _TrimmedRun()
        self._since_tool = _TrimmedRun()
        self._earlier = ()

    def unsent_suffix(self, final_text: str) -> str:
        """Return the end of `final_text` that was not sent; empty if the two texts do not match.

        If a turn ends with a tool, its final text may come after that tool, or
        may repeat the text before that tool. It is a repetition if it begins
        with one of the segments before a tool.
        """
        self._settle()
        final = _HashedText(final_text)
        for run in (self._whole, self._since_restart):
            if run is not None and (end := _end(run, final)) is not None:
                return self._tail(final_text, end)
        since = self._since_tool
        ended_on_tool = not since.core.chars
        segments = self._earlier if ended_on_tool else [*self._earlier, since.core]
        repeats = False
        for first in range(len(self._earlier)):
            ends = _ends(segments[first:], final)
            if not ends or (len(ends) == 1 and _splits_word(final_text, ends[0])):
                continue
            if first + len(ends) == len(segments):
                return self._tail(final_text, ends[-1])
            repeats = True
        if (end := _end(since, final)) is not None:
            return self._tail(final_text, end)
        if ended_on_tool and not repeats:
            return self._tail(final_text, 0)
        self.contradicted_chars = len(final_text.strip())
        return ""

    def _tail(self, final_text: str, end: int) -> str:
        """Return the text from `end` on, without the white space that was sent already."""
        rest = final_text[end:]
        opens_block = self._whole.core.chars and not self._since_tool.core.chars
        if rest.isspace() and opens_block:
            return ""  # this would be a text block with nothing but white space
        sent = 0
        while sent < len(rest) and self._space[sent : sent + 1] == rest[sent]:
            sent += 1
        return rest[sent:]

    def _settle(self) -> None:
        text = "".join(self._batch)
        self._whole.add(text)
        if self._since_tool is not self._whole:
            self._since_tool.add(text)
        if self._since_restart is not None:
            self._since_restart.add(text)
        space = text[len(text.rstrip()) :]
        self._space = (self._space + space if space == text else space)[:_SETTLE_CHARS]
        self._batch.clear()
        self._batch_chars = 0


def _end(run: _TrimmedRun, text: _HashedText) -> int | None:
    """Return the position in `text` after `run`; None if `text` does not begin with `run`.

    White space around `run` is not compared.
    """
    at = _skip_space(text.text, 0)
    return at + run.core.chars if run.core.chars and run.core.occurs_in(text, at) else None


def _ends(segments: Sequence[_Run], text: _HashedText) -> list[int]:
    """Return the end positions of the first segments, as many as `text` begins with, in order.

    For example, two positions mean that `text` begins with the first two segments.
    """
    ends: list[int] = []
    at = 0
    for run in segments:
        at = _skip_space(text.text, at)
        if not run.occurs_in(text, at):
            break
        at += run.chars
        ends.append(at)
    return ends


def _skip_space(text: str, at: int) -> int:
    """Return the first position from `at` on that is not white space."""
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _splits_word(text: str, at: int) -> bool:
    """Whether the position `at` is inside of a word."""
    return text[at - 1 : at].isalnum() and text[at : at + 1].isalnum()
