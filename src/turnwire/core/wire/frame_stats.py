"""Counters of one connection to an agent."""

from typing import Final

from turnwire.core.bounds import MALFORMED_BYTES
from turnwire.core.wire.schema import name_or_odd

CONTRADICTED: Final = "contradicted text"


class FrameStats:
    """Counters of one connection, beside its events."""

    __slots__ = (
        "doubled",
        "error_code",
        "foreign",
        "left_out",
        "left_out_bytes",
        "malformed",
        "protocol_version",
        "unrecognised",
        "wasted",
    )

    KINDS_MAX = 32
    """Most unknown frame types that are counted by name in one stream. Further types count as
    `other`."""

    def __init__(self) -> None:
        self.foreign = 0
        """Frames of other turns."""
        self.malformed = 0
        """Frames that are not JSON, or of a known type with wrong fields."""
        self.wasted = 0
        """Frames that are not JSON or have no type, and one for each `MALFORMED_BYTES` of a
        malformed frame or of a part that was skipped."""
        self.doubled = 0
        """Deltas that repeat what the agent already sent in its other frame type."""
        self.unrecognised: dict[str, int] = {}
        """Frames of unknown types, by type."""
        self.left_out: dict[str, int] = {}
        """What was understood, and is not shown to the client, by a word for it."""
        self.left_out_bytes = 0
        self.error_code: str | None = None
        """The agent's code for the error with which the turn failed."""
        self.protocol_version: str | None = None
        """The version of the wire that the agent named: numbers with dots between."""

    def count_unreadable(self, frame: bytes) -> None:
        """Count a frame that cannot be decoded at all."""
        self.wasted += 1
        self.count_malformed(frame)

    def count_malformed(self, frame: bytes) -> None:
        """Count a frame of a known type with an invalid field or value.

        Newer agents may send such frames.
        """
        self.malformed += 1
        self.wasted += len(frame) // MALFORMED_BYTES

    def count_skipped(self, size: int) -> None:
        """Count `size` bytes of a frame that were skipped as invalid, while the rest was read."""
        self.wasted += size // MALFORMED_BYTES

    def count_unknown(self, frame_type: str) -> None:
        """Count a frame of an unknown type. The log shows the type, so it must look like a name."""
        frame_type = name_or_odd(frame_type)
        if frame_type not in self.unrecognised and len(self.unrecognised) >= self.KINDS_MAX:
            frame_type = "other"
        self.unrecognised[frame_type] = self.unrecognised.get(frame_type, 0) + 1

    def count_left_out(self, what: str, size: int) -> None:
        """Count something that is not shown to the client, and its bytes.

        The log shows `what`: nothing of it may be the agent's own text.
        """
        left_out = self.left_out
        if what not in left_out:
            what = what if len(left_out) < self.KINDS_MAX else "other"
            left_out.setdefault(what, 0)
        left_out[what] += 1
        self.left_out_bytes += size

    def count_contradicted(self, size: int) -> None:
        """Count a text of `size` that should repeat the streamed text, but differs; 0: none did."""
        if size:
            self.count_left_out(CONTRADICTED, size)
