"""The texts of an answer: each is sent in deltas, and then again as a whole, up to three times.

`Texts` returns the deltas and the breaks between blocks. A whole text adds what its deltas lacked:
all of it, if there were none. What belongs together is known by the item alone. The index of a part
is no help: some servers count it on with each delta, or over all items of a response.
"""

import zlib
from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from turnwire.core.bounds import keep
from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire.frame_stats import FrameStats

Key: TypeAlias = tuple[str, int, int]
"""Which text: its kind, the index of its item, and the index of its part in that."""

NO_INDEX: Final = -1
"""The index of an item whose server sends neither an index nor an id. Below it: the id alone."""

_REUSED: Final = -1_000_000
"""Below it: items whose index another one has now."""

TEXTS_MAX: Final = 256
"""Most items whose texts are remembered."""

PARTS_MAX: Final = 64
"""Most parts of one item that are known to be whole."""

TEXT: Final = "text"
REFUSAL: Final = "refusal"
SUMMARY: Final = "summary"
REASONING: Final = "reasoning"
_SHOWN: Final = frozenset({TEXT, REFUSAL})
_OTHER_THOUGHTS: Final = {SUMMARY: REASONING, REASONING: SUMMARY}
"""Some servers tell the same reasoning in both ways."""


class Extent(Struct, frozen=True, gc=False):
    """How many characters of a text there are, and their checksum."""

    length: int = 0
    checksum: int = 0

    def plus(self, text: str) -> "Extent":
        return Extent(self.length + len(text), _checksum(text, self.checksum))

    def begins(self, text: str) -> bool:
        """Whether a text begins with this one, or is the same."""
        return len(text) >= self.length and _checksum(text[: self.length]) == self.checksum


_NOTHING: Final = Extent()


class _Written:
    """What was written of the texts of one kind in one item."""

    __slots__ = ("index", "is_done", "last", "parts", "whole")

    def __init__(self, index: int) -> None:
        self.index = index
        self.whole = _NOTHING
        self.last = _NOTHING
        """What was written since a part ended."""
        self.parts: dict[int, Extent] = {}
        """The parts that ended."""
        self.is_done = False
        """Whether the item ended."""

    def note(self, delta: str) -> None:
        self.whole = self.whole.plus(delta)
        self.last = self.last.plus(delta) if self.parts else self.whole

    def end_part(self, part: int, whole: Extent) -> None:
        keep(self.parts, part, whole, PARTS_MAX)
        self.last = _NOTHING


class Texts:
    """What was written of each text. `current` is the text that the last delta was of."""

    def __init__(self, frame_stats: FrameStats) -> None:
        self.current: Key | None = None
        self.has_text = False
        self.has_refusal = False
        self._written: dict[tuple[str, int], _Written] = {}
        self._latest: dict[str, _Written] = {}
        """Of each kind, what was written last."""
        self._reused = 0
        self._frame_stats = frame_stats

    def next_response(self) -> None:
        """Another response of the same turn begins: its items are counted anew."""
        self.current = None
        self._written.clear()
        self._latest.clear()

    def interrupt(self) -> None:
        """Something else is shown: a delta that follows begins another block."""
        self.current = None

    def note(self, key: Key, delta: str) -> None:
        """Note a delta of the current text, which was written."""
        self._latest[key[0]].note(delta)

    def write(self, key: Key, delta: str) -> list[Event]:
        """Write a delta. It begins another block if the last one was of another text.

        Another index of a part is another text only behind the end of the part before it. Parts of
        a summary are numbered well everywhere.
        """
        if not delta:
            return []
        kind, index, part = key
        written = self._of(kind, index)
        is_new = written.is_done
        if is_new:  # the server counts its items anew
            written = self._begin(kind, index)
        elif self.current is not None and self.current[2] != part:
            is_new = kind == SUMMARY or not written.last.length
        return self._write(kind, written, part, delta, is_new=is_new)

    def end(self, key: Key, whole: str) -> list[Event]:
        """A part ended: write what its deltas lacked. One that contradicts them is counted."""
        kind, index, part = key
        written = self._found(kind, index, whole)
        extent = _NOTHING.plus(whole)
        if written.parts.get(part) == extent or self._is_other_thought(written, kind, extent):
            return []
        last = written.last
        is_another = bool(written.parts) and part not in written.parts and not last.length
        if not is_another and written.whole.begins(whole):
            rest = whole[written.whole.length :]
        elif (is_another or last.length) and last.begins(whole):
            rest = whole[last.length :]
        else:
            rest = ""
            self._frame_stats.count_left_out("contradicted text", len(whole))
        new = self._write(kind, written, part, rest, is_new=is_another) if rest else []
        written.end_part(part, extent)
        return new

    def end_item(
        self, index: int, parts: Sequence[tuple[str, str]], *, is_repeated: bool = False
    ) -> list[Event]:
        """An item ended: write what was not written of its parts, each a kind and its text.

        With `is_repeated` it stands in the list of all items, where its index may be another one.
        """
        texts: dict[str, str] = {}
        for kind, text in parts:
            texts[kind] = texts.get(kind, "") + text
        known = {
            kind: written
            for kind, whole in texts.items()
            if (written := self._ended(kind, index, whole, is_repeated=is_repeated)) is not None
        }
        lengths = {kind: written.whole.length for kind, written in known.items()}
        new: list[Event] = []
        for number, (kind, text) in enumerate(parts):
            if kind not in known:
                continue
            before = lengths[kind]
            lengths[kind] = max(0, before - len(text))
            if rest := text[before:]:
                new += self._write(kind, known[kind], number, rest, is_new=not before)
        return new

    def _ended(self, kind: str, index: int, whole: str, *, is_repeated: bool) -> _Written | None:
        """Return the text that an item ends; None if nothing of it is to be written."""
        find = self._found_anywhere if is_repeated else self._found
        written = find(kind, index, whole)
        written.is_done = True
        if self._is_other_thought(written, kind, _NOTHING.plus(whole)):
            return None
        if written.whole.begins(whole):
            return written
        self._frame_stats.count_left_out("contradicted text", len(whole))
        return None

    def _found(self, kind: str, index: int, whole: str) -> _Written:
        """Return the text of an item. Where a server sends no index it may be the last one."""
        written, latest = self._written.get((kind, index)), self._latest.get(kind)
        if (written is None or not written.whole.length) and latest is not None:
            is_unnamed = index < 0 or latest.index < 0
            if is_unnamed and not latest.is_done and latest.whole.begins(whole):
                return latest
        return self._of(kind, index)

    def _found_anywhere(self, kind: str, index: int, whole: str) -> _Written:
        """Return the same text, whatever its index is, or one that it goes on with."""
        extent = _NOTHING.plus(whole)
        for (known_kind, _), written in self._written.items():
            if known_kind == kind and written.whole == extent:
                return written
        latest = self._latest.get(kind)
        if latest is not None and not latest.is_done and latest.whole.begins(whole):
            return latest
        return self._of(kind, index)

    def _is_other_thought(self, written: _Written, kind: str, extent: Extent) -> bool:
        """Whether it is reasoning that was told in the other way."""
        other = _OTHER_THOUGHTS.get(kind)
        return not written.whole.length and any(
            each.whole == extent for (name, _), each in self._written.items() if name == other
        )

    def _of(self, kind: str, index: int) -> _Written:
        """Return what was written of an item, as the last that is forgotten."""
        written = self._written.pop((kind, index), None) or _Written(index)
        keep(self._written, (kind, index), written, TEXTS_MAX)
        return written

    def _begin(self, kind: str, index: int) -> _Written:
        """Another item has the index of one before it, which is remembered without an index."""
        self._reused += 1
        keep(self._written, (kind, _REUSED - self._reused), self._written[kind, index], TEXTS_MAX)
        written = self._written[kind, index] = _Written(index)
        return written

    def _write(
        self, kind: str, written: _Written, part: int, text: str, *, is_new: bool
    ) -> list[Event]:
        before: list[Event] = []
        if self.current is not None and (is_new or self.current[:2] != (kind, written.index)):
            before = [TextBreak()]
        self.current = (kind, written.index, part)
        self._latest[kind] = written
        written.note(text)
        if kind not in _SHOWN:
            return [*before, ReasoningDelta(text)]
        self.has_text = True
        self.has_refusal = self.has_refusal or kind == REFUSAL
        return [*before, TextDelta(text)]


def _checksum(text: str, before: int = 0) -> int:
    return zlib.crc32(text.encode(errors="surrogatepass"), before)
