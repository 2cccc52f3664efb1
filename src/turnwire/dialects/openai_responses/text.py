"""The texts of an answer: each is sent in deltas, and then again as a whole, once or twice.

`Texts` returns the deltas and the breaks between blocks. A whole text adds what its deltas lacked:
all of it, if there were none.
"""

import zlib
from typing import Final, TypeAlias

from turnwire.core.bounds import keep
from turnwire.core.events import Event, ReasoningDelta, TextBreak, TextDelta
from turnwire.core.wire.frame_stats import FrameStats

Key: TypeAlias = tuple[str, int, int]
"""Which text: its kind, the index of its item, and the index of its part in that."""

TEXTS_MAX: Final = 256
"""Most texts whose deltas are remembered."""

TEXT: Final = "text"
REFUSAL: Final = "refusal"
SUMMARY: Final = "summary"
REASONING: Final = "reasoning"
_SHOWN: Final = frozenset({TEXT, REFUSAL})


class Texts:
    """What was written of each text. `current` is the text that the last delta was of."""

    def __init__(self, frame_stats: FrameStats) -> None:
        self.current: Key | None = None
        self.has_text = False
        self.has_refusal = False
        self.is_shown = False
        """Whether this response has a text that is shown."""
        self._written: dict[Key, tuple[int, int]] = {}
        """Of each text: how many characters were written, and their checksum."""
        self._frame_stats = frame_stats

    def next_response(self) -> None:
        """Another response of the same turn begins: its items are counted anew."""
        self.current = None
        self.is_shown = False
        self._written.clear()

    def interrupt(self) -> None:
        """Something else is shown: a delta that follows begins another block."""
        self.current = None

    def note(self, key: Key, delta: str) -> None:
        """Note a delta that was written."""
        length, checksum = self._written.get(key, (0, 0))
        noted = length + len(delta), _checksum(delta, checksum)
        keep(self._written, key, noted, TEXTS_MAX)

    def write(self, key: Key, delta: str) -> list[Event]:
        """Write a delta. It begins another block if the last one was of another text."""
        if not delta:
            return []
        before: list[Event] = [TextBreak()] if self.current not in {None, key} else []
        self.current = key
        self.note(key, delta)
        if key[0] not in _SHOWN:
            return [*before, ReasoningDelta(delta)]
        self.has_text = self.is_shown = True
        self.has_refusal = self.has_refusal or key[0] == REFUSAL
        return [*before, TextDelta(delta)]

    def end(self, key: Key, whole: str) -> list[Event]:
        """The whole text: write what its deltas lacked. One that contradicts them is counted."""
        length, checksum = self._written.get(key, (0, 0))
        if len(whole) < length or _checksum(whole[:length]) != checksum:
            self._frame_stats.count_left_out("contradicted text", len(whole))
            return []
        return self.write(key, whole[length:])


def _checksum(text: str, before: int = 0) -> int:
    return zlib.crc32(text.encode(errors="surrogatepass"), before)
