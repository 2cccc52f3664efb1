"""What the agent's wire has that its dialect does not know: new types of frames, new fields.

Both are dropped without harm, so nobody would notice that the wire has moved on. Here some frames
of some streams are looked into: of each type the first few and then one in so many; of deltas the
first few alone. What is found has a fingerprint, that is the same in every process: the type, and
the names and JSON kinds of the fields that are not known. Values are not looked at.
"""

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Struct

from turnwire.core.vocabulary import Vocabulary

STREAMS_FIRST: Final = 8
STREAMS_NEXT: Final = 32
"""So many streams of a process are watched, and then one in so many."""

FRAMES_FIRST: Final = 8
FRAMES_NEXT: Final = 64
"""So many frames of a type are looked into, and then one in so many."""

FRAME_BYTES_MAX: Final = 262_144
"""Longest frame that is looked into."""

TYPES_MAX: Final = 256
"""Types counted apart."""

FINGERPRINTS_MAX: Final = 100
"""Fingerprints told apart, in the life of a process; the rest are `OTHER`."""

OTHER: Final = "other"

_FIELDS_MAX: Final = 32
_ELEMENTS_MAX: Final = 64
_DEPTH_MAX: Final = 8
_KEYS_MAX: Final = 64

_NAME: Final = re.compile(r"[A-Za-z0-9_$.:/-]{1,64}")
_ODD: Final = "(odd)"
"""In place of a name that is none, and might be anything."""

Structure: TypeAlias = "str | dict[str, Any] | list[Any]"
"""A JSON value without what it says."""


class Finding(Struct, frozen=True):
    """Something that the dialect does not know."""

    fingerprint: str
    kind: str
    """`type` or `field`."""
    type: str
    fields: tuple[str, ...]
    """`path:kind`, sorted; of an unknown type all that it has."""
    structure: Structure
    """The frame without its values."""
    is_new: bool
    """Whether nothing with this fingerprint was found before."""


class Sample(Struct, frozen=True, kw_only=True):
    """A finding as it is kept: one line of a file."""

    at: str
    dialect: str
    fingerprint: str
    kind: str
    type: str
    fields: tuple[str, ...]
    structure: Structure


class _Head(Struct):
    type: str


_head = msgspec.json.Decoder(_Head).decode
_any = msgspec.json.Decoder().decode


class Drift:
    """What was found in the life of a process, and what is due to be looked into."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._known = {str(kind.__struct_config__.tag): kind for kind in vocabulary.frames}
        self._streams = 0
        self._is_alarmed = False
        self._seen: dict[str, int] = {}
        self._tired: tuple[bytes, ...] = ()
        """How most frames of the deltas begin that were looked into often enough."""
        self._fingerprints: set[str] = set()

    def watches(self) -> bool:
        """Whether the stream that begins is one to look into."""
        due = self._streams < STREAMS_FIRST or self._streams % STREAMS_NEXT == 0
        self._streams += 1
        due, self._is_alarmed = due or self._is_alarmed, False
        return due

    def alarm(self) -> None:
        """A stream heard a frame of an unknown type: look into the next one."""
        self._is_alarmed = True

    def look(self, frames: Sequence[bytes]) -> list[Finding]:
        """Look into those that are due."""
        found: list[Finding] = []
        for frame in frames:
            if frame.startswith(self._tired):
                continue
            try:
                kind = _name(_head(frame).type)
                if self._is_due(kind) and len(frame) <= FRAME_BYTES_MAX:
                    found += self._look_into(kind, _any(frame))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # counted as malformed elsewhere
        return found

    def _is_due(self, kind: str) -> bool:
        if kind not in self._seen and len(self._seen) >= TYPES_MAX:
            kind = OTHER
        seen = self._seen.get(kind, 0)
        self._seen[kind] = seen + 1
        if seen < FRAMES_FIRST:
            return True
        if kind not in self._vocabulary.deltas:
            return seen % FRAMES_NEXT == 0
        if seen == FRAMES_FIRST:
            self._tired += (f'{{"type":"{kind}"'.encode(), f'{{"type": "{kind}"'.encode())
        return False

    def _look_into(self, kind: str, frame: Mapping[str, Any]) -> Iterator[Finding]:
        known = self._known.get(kind)
        if known is None:
            fields = [f"{_name(key)}:{_kind(value)}" for key, value in frame.items()]
            yield self._finding("type", kind, fields, frame)
        elif known.__struct_fields__:
            strange = list(dict.fromkeys(self._strange(frame, known, kind, 0)))
            if strange:
                fields = [each.removeprefix(f"{kind}.") for each in strange]
                yield self._finding("field", kind, fields, frame)

    def _strange(self, told: Any, known: type[Struct], path: str, depth: int) -> Iterator[str]:
        """What is strange in an object, or in the objects of an array."""
        if isinstance(told, list):
            for each in told[-_ELEMENTS_MAX:]:
                yield from self._strange(each, known, path, depth)
        if not isinstance(told, dict):
            return
        words = self._vocabulary
        unread = words.unread.get(path, frozenset())
        fields = _fields(known)
        types = words.types.get(path)
        if types is not None and isinstance(told.get("type"), str) and told["type"] not in types:
            yield f"{path}.type={_name(told['type'])}:string"
            return
        for key, value in told.items():
            here = f"{path}.{_name(key)}"
            if key not in fields and key not in unread and (depth or key != "type"):
                if "*" not in unread:
                    yield f"{here}:{_kind(value)}"
            elif (inner := words.inside.get(here) or fields.get(key)) is not None:
                yield from self._strange(value, inner, here, depth + 1)

    def _finding(
        self, what: str, kind: str, fields: Sequence[str], frame: Mapping[str, Any]
    ) -> Finding:
        named = tuple(sorted(fields)[:_FIELDS_MAX])
        told = "\n".join((what, kind, *named))
        fingerprint = hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:10]
        is_new = fingerprint not in self._fingerprints
        if is_new and len(self._fingerprints) >= FINGERPRINTS_MAX:
            fingerprint, is_new = OTHER, OTHER not in self._fingerprints
        if is_new:
            self._fingerprints.add(fingerprint)
        return Finding(fingerprint, what, kind, named, structure(frame) if is_new else "", is_new)


def structure(value: Any, depth: int = 0) -> Structure:
    """A JSON value without what it says: names, kinds, lengths."""
    if isinstance(value, str):
        return f"string({len(value)})"
    if depth > _DEPTH_MAX or not isinstance(value, dict | list):
        return _kind(value)
    if isinstance(value, dict):
        some = list(value.items())[:_KEYS_MAX]
        return {_name(key): structure(each, depth + 1) for key, each in some}
    shapes: list[Structure] = [structure(each, depth + 1) for each in value[:_ELEMENTS_MAX]]
    told = [shape for place, shape in enumerate(shapes) if shape not in shapes[:place]]
    return [f"array({len(value)})", *told]


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _name(given: str) -> str:
    return given if _NAME.fullmatch(given) else _ODD


@functools.cache
def _fields(known: type[Struct]) -> dict[str, type[Struct] | None]:
    """The fields of a struct, and what they are made of, if it is a struct."""
    return {field.encode_name: _struct(field.type) for field in msgspec.structs.fields(known)}


def _struct(hint: Any) -> type[Struct] | None:
    """The struct that a field is made of, if it is."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    return next((found for each in get_args(hint) if (found := _struct(each))), None)
