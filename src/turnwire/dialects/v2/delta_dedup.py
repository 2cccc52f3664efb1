"""Deduplicates text deltas: `message.part.text-delta` and `chunk` may both carry every delta.

One of the two frame types leads: the last new text came in it. The text that the
leader carried and the other type has not repeated is kept. Each delta of the
other type is compared with the kept text:

* the delta continues with the kept text: it is a repetition, and only the part
  that goes beyond the kept text is new;
* the delta equals the leader's last delta, but not the deltas before it: from
  here on the agent sends both types, and the delta is a repetition;
* the delta is different: the agent has switched types, and the delta is new. The
  deltas of its type since the leader's last delta counted as repetitions, but
  began the same new text, so they are new as well. Example: the kept text is
  "The cat". "The" counts as a repetition. Then " dog" comes, and the new text is
  "The dog". (If these deltas repeated exactly the leader's last delta, they stay
  repetitions.)

The type that brings a new delta leads from then on, and may be repeated in its turn.
Where a repetition and new text look the same, the delta counts as a repetition
until the next delta decides.

Memory does not grow with the turn: at most `KEPT_UNITS` are kept, from the
position that the other type has reached. If the agent is further behind and has
repeated all of the kept text, only lengths are compared until the other type has
caught up. A switch during that time loses text.
"""

from typing import Final

from turnwire.core.wire.frame_stats import FrameStats

PART: Final = 0
CHUNK: Final = 1
"""The two frame types of a text delta. Plain numbers: they are compared for every delta."""

KEPT_UNITS: Final = 4_096
"""How much text of one frame type is kept until the other repeats it, in UTF-16 units."""

_BATCH_CHARS: Final = 1_024
"""The leader's deltas move to the kept text in batches of about so many characters."""


class DeltaDeduplicator:
    """Returns of each delta the text that neither frame type has carried before.

    Agents cut text at JavaScript's positions: one frame type may split a surrogate pair
    that the other carries whole. So the comparison works on bytes of UTF-16.
    """

    __slots__ = (
        "_frame_stats",
        "_free_chars",
        "_is_behind",
        "_kept",
        "_last_delta",
        "_leader",
        "_matched",
        "_pending",
        "_position",
        "_unkept_bytes",
    )

    def __init__(self, frame_stats: FrameStats) -> None:
        self._frame_stats = frame_stats
        self._leader = PART
        self._pending: list[str] = []
        """The leader's deltas that are neither moved to the kept text nor repeated."""
        self._free_chars = _BATCH_CHARS
        """Characters that `_pending` may take before `_make_room` is called."""
        self._reset()

    def new_text(self, frame_type: int, text: str) -> str:
        """The new part of a delta that came as `PART` or as `CHUNK`; `""` if all is repeated."""
        if frame_type == self._leader:
            self._pending.append(text)
            self._matched = ""
            self._free_chars -= len(text) or 1
            if self._free_chars < 0:
                self._make_room()
            return text
        pending = self._pending
        if pending and pending[0] == text and not self._is_behind:  # both types cut alike
            del pending[0]
            self._frame_stats.doubled += 1
            if pending:
                self._matched += text
            return ""
        return self._compare(frame_type, text)

    def _reset(self) -> None:
        """The other frame type has carried all that the leader carried: nothing is kept."""
        self._is_behind = False
        """Whether text was moved to the kept text that the other type has not repeated."""
        self._kept = b""
        """The kept text, in UTF-16."""
        self._position = 0
        """How many bytes of `_kept` the other type has repeated."""
        self._unkept_bytes = 0
        """How many bytes of the leader's text follow `_kept` and are not kept."""
        self._last_delta = ""
        """The last delta that was moved; empty if it is longer than `KEPT_UNITS`."""
        self._matched = ""
        """The text that the other type repeated since the leader's last delta."""

    def _compare(self, frame_type: int, text: str) -> str:
        """The new part of a delta of the type that does not lead."""
        if self._pending:
            self._keep_pending()
        data = _utf16(text)
        compared = min(len(data), len(self._kept) - self._position)
        if not self._kept.startswith(data[:compared], self._position):
            return self._mismatch(frame_type, data)
        assumed = min(len(data) - compared, self._unkept_bytes)
        self._position += compared
        self._unkept_bytes -= assumed
        if new := data[compared + assumed :]:
            return self._switch(frame_type, new)
        self._frame_stats.doubled += 1
        if self._position < len(self._kept):
            self._matched += text
        elif self._unkept_bytes:
            self._matched = ""
        else:
            self._reset()
        return ""

    def _mismatch(self, frame_type: int, data: bytes) -> str:
        """The new part of a delta that does not continue with the kept text."""
        last_delta, matched = _utf16(self._last_delta), _utf16(self._matched)
        if data == last_delta:
            self._frame_stats.doubled += 1
            self._reset()
            return ""
        return self._switch(frame_type, data if matched == last_delta else matched + data)

    def _switch(self, frame_type: int, new: bytes) -> str:
        """Make this frame type the leader. Returns its new text."""
        self._leader = frame_type
        self._reset()
        return self.new_text(frame_type, new.decode("utf-16-le", "surrogatepass"))

    def _make_room(self) -> None:
        """Count the pending characters again, and move them if they fill half of a batch."""
        waiting = sum(map(len, self._pending)) + len(self._pending)
        if waiting > _BATCH_CHARS // 2:
            self._keep_pending()
            waiting = 0
        self._free_chars = _BATCH_CHARS - waiting

    def _keep_pending(self) -> None:
        """Move the pending deltas to the kept text, as much of them as fits."""
        text, self._last_delta = "".join(self._pending), self._pending[-1]
        self._pending.clear()
        if len(self._last_delta) > KEPT_UNITS:
            self._last_delta = ""
        self._is_behind = True
        size = 2 * len(text) if text.isascii() else len(_utf16(text))
        kept = self._kept[self._position :]
        self._position = 0
        if not self._unkept_bytes:
            fitting = _utf16(text[:KEPT_UNITS])[: 2 * KEPT_UNITS - len(kept)]
            kept += fitting
            size -= len(fitting)
        self._kept = kept
        self._unkept_bytes += size


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
