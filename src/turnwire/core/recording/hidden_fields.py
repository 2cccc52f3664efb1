"""Which fields of a frame may hold anything, so that redaction hides all in them.

A state, or a copy of an event of another framework, has keys and words of people: a name under
`name`, an address in a key. A path is a frame's type and the names of fields, joined by dots, as in
`core.wire.schema`; the type `*` is any. `hidden` are the fields that may hold anything, `read`
those inside them by which a dialect goes: keys on the way to these stay, and their ids and words.
"""

from collections.abc import Collection
from typing import Final

import msgspec
from msgspec import Struct

from turnwire.core.bounds import Word

_ANY: Final = "*"


class _Typed(Struct):
    type: Word | None = None


_decode = msgspec.json.Decoder(_Typed).decode


class Paths(Struct, frozen=True):
    """The paths of one type of frame, without the type."""

    hidden: Collection[str] = frozenset()
    read: Collection[str] = frozenset()
    ways: Collection[str] = frozenset()
    """The paths on the way to those in `read`. Their keys stay, too."""


class HiddenFields:
    """`of(frame)` returns the paths for the type of a frame."""

    def __init__(self, hidden: Collection[str], read: Collection[str]) -> None:
        self._hidden = hidden
        self._read = read
        self._of_types: dict[str | None, Paths] = {}
        self._types = {path.partition(".")[0] for path in hidden}

    def of(self, frame: bytes) -> Paths:
        try:
            kind = _decode(frame).type
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            kind = None
        else:
            kind = kind if kind in self._types else _ANY
        paths = self._of_types.get(kind)
        if paths is None:
            paths = self._of_types[kind] = self._make(kind)
        return paths

    def _make(self, kind: str | None) -> Paths:
        """Make the paths of a type; of all types together, if the type could not be read."""
        kinds = {kind, _ANY}
        hidden, read = (
            frozenset(path for each, _, path in split if kind is None or each in kinds)
            for split in (
                [path.partition(".") for path in paths] for paths in (self._hidden, self._read)
            )
        )
        ways = {path[:at] for path in read for at, each in enumerate(path) if each == "."}
        return Paths(hidden, read, frozenset(ways))
