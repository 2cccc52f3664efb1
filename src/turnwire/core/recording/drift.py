"""Detect drift: frame types and fields that an agent sends and its dialect does not know.

The dialects ignore both, so without this module no operator would notice that the agent's wire has
changed. `Drift.is_stream_due()` selects some streams; `Drift.inspect(frames)` inspects some of
their frames: of each type the first `FRAMES_FIRST` and then one in `FRAMES_NEXT`; of deltas only
the first `FRAMES_FIRST`. Each finding has a fingerprint that is the same in every process: a hash
of the frame type, and of the names and JSON kinds of the unknown fields. Values are not part of it.
"""

import functools
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias, get_args

import msgspec
from msgspec import Struct

from turnwire.core.wire.schema import (
    WireSchema,
    name_or_odd,
    split_value,
    tag_of,
    type_by,
)

STREAMS_FIRST: Final = 8
STREAMS_NEXT: Final = 32
"""A process inspects its first `STREAMS_FIRST` streams, and then one in `STREAMS_NEXT`."""

FRAMES_FIRST: Final = 8
FRAMES_NEXT: Final = 64
"""A process inspects the first `FRAMES_FIRST` frames of a type, and then one in `FRAMES_NEXT`."""

FRAME_BYTES_MAX: Final = 262_144
"""Longest frame that is inspected."""

TYPES_MAX: Final = 256
"""Most frame types with a counter of their own; the rest share one."""

FINGERPRINTS_MAX: Final = 100
"""Most distinct fingerprints in the life of a process; later ones become `OTHER`."""

OTHER: Final = "other"

WHOLE: Final = "(frame):"
"""Stands before the JSON kind of a frame of an unknown type that has no object with fields."""

_FIELDS_MAX: Final = 32
_ELEMENTS_MAX: Final = 64
_DEPTH_MAX: Final = 8
_KEYS_MAX: Final = 64


Structure: TypeAlias = "str | dict[str, Any] | list[Any]"
"""The structure of a JSON value, without its contents. See `structure`."""


class Finding(Struct, frozen=True):
    """A frame type, or fields of a frame type, that the dialect does not know."""

    fingerprint: str
    kind: str
    """`type` or `field`."""
    type: str
    fields: tuple[str, ...]
    """The unknown fields as `path:kind`, sorted. For an unknown type: all its fields, or `WHOLE`
    and the kind of the frame."""
    structure: Structure
    """The frame without its values; `""` if the finding is not new."""
    is_new: bool
    """Whether this is the first finding of this process with this fingerprint."""


class Sample(Struct, frozen=True, kw_only=True):
    """A finding as one line of the samples file."""

    at: str
    dialect: str
    fingerprint: str
    kind: str
    type: str
    fields: tuple[str, ...]
    structure: Structure


class _Head(Struct):
    type: str


_decode_head = msgspec.json.Decoder(_Head).decode
_decode_any = msgspec.json.Decoder().decode


def _type_of(frame: bytes) -> str:
    return _decode_head(frame).type


class Drift:
    """The findings of a process, and the counters that decide which frames are inspected next."""

    def __init__(self, schema: WireSchema) -> None:
        self._schema = schema
        split = schema.split
        self._type_of = schema.type_of or (_type_of if split is None else type_by(split))
        self._structs = {tag_of(struct): struct for struct in schema.frames}
        self._streams = 0
        self._is_next_due = False
        self._frame_counts: dict[str, int] = {}
        self._done_prefixes: tuple[bytes, ...] = ()
        """How most frames begin of those delta types that need no more inspection."""
        self._fingerprints: set[str] = set()

    def is_stream_due(self) -> bool:
        """Count a stream that begins. Returns whether its frames are to be inspected."""
        is_due = self._streams < STREAMS_FIRST or self._streams % STREAMS_NEXT == 0
        self._streams += 1
        is_due, self._is_next_due = is_due or self._is_next_due, False
        return is_due

    def inspect_next_stream(self) -> None:
        """Make the next stream due. Called after a stream with a frame of an unknown type."""
        self._is_next_due = True

    def inspect(self, frames: Sequence[bytes]) -> list[Finding]:
        """Inspect those of the frames that are due. Returns the findings."""
        findings: list[Finding] = []
        for frame in frames:
            if frame.startswith(self._done_prefixes):
                continue
            try:
                frame_type = name_or_odd(self._type_of(frame))
                if self._is_frame_due(frame_type) and len(frame) <= FRAME_BYTES_MAX:
                    findings += self._inspect_frame(frame_type, _decode_any(frame))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # counted as malformed elsewhere
        return findings

    def _is_frame_due(self, frame_type: str) -> bool:
        if frame_type not in self._frame_counts and len(self._frame_counts) >= TYPES_MAX:
            frame_type = OTHER
        count = self._frame_counts.get(frame_type, 0)
        self._frame_counts[frame_type] = count + 1
        if count < FRAMES_FIRST:
            return True
        if frame_type not in self._schema.deltas:
            return count % FRAMES_NEXT == 0
        if count == FRAMES_FIRST:
            self._done_prefixes += (
                f'{{"type":"{frame_type}"'.encode(),
                f'{{"type": "{frame_type}"'.encode(),
            )
        return False

    def _inspect_frame(self, frame_type: str, frame: Any) -> Iterator[Finding]:
        struct, split = self._structs.get(frame_type), self._schema.split
        body = frame if split is None else split_value(split, frame)[1]
        if struct is None:
            fields = [WHOLE + _kind(frame)]
            if isinstance(body, dict):
                fields = [f"{name_or_odd(key)}:{_kind(value)}" for key, value in body.items()]
            yield self._finding("type", frame_type, fields, frame)
        elif struct.__struct_fields__:
            unknown = list(dict.fromkeys(self._unknown_fields(body, struct, frame_type, 0)))
            if unknown:
                fields = [field.removeprefix(f"{frame_type}.") for field in unknown]
                yield self._finding("field", frame_type, fields, frame)

    def _unknown_fields(
        self, value: Any, struct: type[Struct], path: str, depth: int
    ) -> Iterator[str]:
        """Yield the unknown fields of an object, or of the objects of an array, as `path:kind`."""
        if isinstance(value, list):
            for element in value[-_ELEMENTS_MAX:]:
                yield from self._unknown_fields(element, struct, path, depth)
        if not isinstance(value, dict):
            return
        schema = self._schema
        unread = schema.unread.get(path, frozenset())
        fields = _fields(struct)
        types = schema.types.get(path)
        if types is not None and isinstance(value.get("type"), str) and value["type"] not in types:
            yield f"{path}.type={name_or_odd(value['type'])}:string"
            return
        for key, inner in value.items():
            inner_path = f"{path}.{name_or_odd(key)}"
            if key not in fields and key not in unread and (depth or key != "type"):
                if "*" not in unread:
                    yield f"{inner_path}:{_kind(inner)}"
            elif (inner_struct := schema.inside.get(inner_path) or fields.get(key)) is not None:
                yield from self._unknown_fields(inner, inner_struct, inner_path, depth + 1)

    def _finding(self, kind: str, frame_type: str, fields: Sequence[str], frame: Any) -> Finding:
        named = tuple(sorted(fields)[:_FIELDS_MAX])
        text = "\n".join((kind, frame_type, *named))
        fingerprint = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:10]
        is_new = fingerprint not in self._fingerprints
        if is_new and len(self._fingerprints) >= FINGERPRINTS_MAX:
            fingerprint, is_new = OTHER, OTHER not in self._fingerprints
        if is_new:
            self._fingerprints.add(fingerprint)
        return Finding(
            fingerprint, kind, frame_type, named, structure(frame) if is_new else "", is_new
        )


def structure(value: Any, depth: int = 0) -> Structure:
    """Return a JSON value without its contents: names, JSON kinds and lengths.

    A string becomes `string(LENGTH)`; an object keeps its keys; an array becomes its length and
    the distinct structures of its elements.
    """
    if isinstance(value, str):
        return f"string({len(value)})"
    if depth > _DEPTH_MAX or not isinstance(value, dict | list):
        return _kind(value)
    if isinstance(value, dict):
        items = list(value.items())[:_KEYS_MAX]
        return {name_or_odd(key): structure(inner, depth + 1) for key, inner in items}
    shapes: list[Structure] = [structure(inner, depth + 1) for inner in value[:_ELEMENTS_MAX]]
    distinct = [shape for index, shape in enumerate(shapes) if shape not in shapes[:index]]
    return [f"array({len(value)})", *distinct]


def _kind(value: Any) -> str:
    """The JSON kind of a value."""
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


@functools.cache
def _fields(struct: type[Struct]) -> dict[str, type[Struct] | None]:
    """The fields of a struct, each with the struct of its values, or None if they have none."""
    return {field.encode_name: _struct(field.type) for field in msgspec.structs.fields(struct)}


def _struct(hint: Any) -> type[Struct] | None:
    """The first struct in a type hint, or None."""
    if isinstance(hint, type) and issubclass(hint, Struct):
        return hint
    return next((found for inner in get_args(hint) if (found := _struct(inner))), None)
