"""Decodes the frames of a wire leniently, and counts those that cannot be decoded.

A dialect describes its frames by a union of structs, each tagged with its frame type, and by the
types that it skips (`known_frames`). It makes one `FrameDecoder` from them.
"""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Struct

from turnwire.core import safe_json
from turnwire.core.wire.frame_stats import FrameStats

Frame = TypeVar("Frame", bound=Struct)


def known_frames(
    read: Iterable[type[Struct]], skipped: type[Struct], skipped_types: Iterable[str]
) -> tuple[type[Struct], ...]:
    """The structs of all frame types of a wire.

    Each of `skipped_types` gets a struct of its own, with the base `skipped` and no other fields.
    So these frames do not count as unknown.
    """
    return (
        *(kind for kind in read if kind is not skipped),
        *(
            msgspec.defstruct(tag, [], bases=(skipped,), frozen=True, tag=tag)
            for tag in skipped_types
        ),
    )


def _keep_nothing(_loose: Any) -> None:
    """The default: strict JSON has all of a frame that the dialect needs."""


class FrameDecoder(Generic[Frame]):
    """The decoder of one wire."""

    __slots__ = ("_decode", "_frame_types", "_keep_halves", "_restore_halves", "_type_of")

    def __init__(
        self,
        decode: Callable[[bytes], Frame],
        known: Iterable[type[Struct]],
        restore_halves: Callable[[Frame, Any], Frame],
        keep_halves: Callable[[Any], object] = _keep_nothing,
        type_of: Callable[[bytes], str] = safe_json.frame_type,
    ) -> None:
        """Make the decoder of a wire.

        `decode` decodes strict JSON to one of the structs `known`. It raises
        `msgspec.ValidationError` for JSON that is none of them, which is counted as malformed or as
        an unknown type; `msgspec.DecodeError` or RecursionError for what is no strict JSON, which
        is then read again as nearly valid JSON; and nothing else.

        Strict JSON cannot hold half of a surrogate pair, whose other half may come with the next
        delta. `restore_halves` gets a decoded frame, and the whole frame as plain Python values
        (dict, list, str, numbers, bool, None) with the halves; it returns the frame with them.
        `keep_halves` may edit these values before the frame is decoded. `type_of` returns the
        type of a frame, and an empty string for a frame without one. `frame_decoder` does all
        this for the usual wires.
        """
        self._decode = decode
        self._frame_types = frozenset(str(kind.__struct_config__.tag) for kind in known)
        self._restore_halves = restore_halves
        self._keep_halves = keep_halves
        self._type_of = type_of

    def read(self, raw: bytes, frame_stats: FrameStats) -> Frame | None:
        """Decode a frame, also from nearly valid JSON. None, and counted, if that fails."""
        try:
            return self._decode(raw)
        except msgspec.ValidationError:
            self.count_rejected(raw, frame_stats)
            return None
        except (msgspec.DecodeError, RecursionError):
            recovered = self.recover(raw, frame_stats)
            return None if recovered is None else recovered[0]

    def recover(self, raw: bytes, frame_stats: FrameStats) -> tuple[Frame, bytes] | None:
        """Decode a frame that is not strict JSON: it has NaN, or half of a surrogate pair.

        Returns the decoded frame, and the frame in strict JSON. None, and counted, if that fails.
        """
        strict = b""
        try:
            strict, loose = safe_json.parse_strictly(raw, self._keep_halves)
            frame = self._decode(strict)
        except msgspec.ValidationError:
            self.count_rejected(strict, frame_stats)
            return None
        except (ValueError, RecursionError):
            frame_stats.count_unreadable(raw)
            return None
        return (frame if loose is None else self._restore_halves(frame, loose)), strict

    def count_rejected(self, raw: bytes, frame_stats: FrameStats) -> None:
        """Count a frame of valid JSON that `decode` refused: unreadable, malformed or unknown."""
        kind = self._type_of(raw)
        if not kind:
            frame_stats.count_unreadable(raw)
        elif kind in self._frame_types:
            frame_stats.count_malformed(raw)
        else:
            frame_stats.count_unknown(kind)
