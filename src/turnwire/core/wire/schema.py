"""The schema of a dialect's frames, for drift detection and redaction.

Each dialect declares one `WireSchema`: `core.recording.drift` finds with it what an agent sends
and this build does not know, `core.recording.redact` which words it must keep.

A path is a frame's type and the names of fields from there on, joined by dots: `init.session.id`.
The elements of an array have the path of the array.

Some wires have an envelope of their own around the fields of a frame, such as `[7, "say", {…}]`: a
`Split` finds them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import HandedOn

_NAME: Final = re.compile(r"[A-Za-z0-9_$.:/-]{1,64}")
ODD: Final = "(odd)"
"""Replaces a type or a key that does not look like a name: it may hold arbitrary text."""


Split: TypeAlias = Callable[[Any], Sequence[Any]]
"""Returns the type and the body of a frame: `lambda frame: (frame[1], frame[2])`.

It gets an array or an object, whose values are decoded or are not: so one function serves the
decoder, which decodes only the body, and the schema, which has decoded frames. The type may also be
a word of its own, for frames that name none. It may raise what a look into JSON of another shape
raises: an IndexError, KeyError, TypeError, ValueError or AttributeError."""

_decode_places = msgspec.json.Decoder(list[Raw] | dict[str, Raw]).decode
_decode_type = msgspec.json.Decoder(HandedOn).decode


class WireSchema(Struct, frozen=True, kw_only=True):
    """The frame types and fields of a dialect."""

    frames: Sequence[type[Struct]]
    """The frames, tagged by their type. The fields of a struct without fields are not checked."""
    deltas: frozenset[str] = frozenset()
    """Types of frames with a delta; an agent sends hundreds of thousands of them."""
    unread: Mapping[str, frozenset[str]] = {}
    """By path of an object: fields that are known, but not decoded. `*`: any other field."""
    inside: Mapping[str, type[Struct]] = {}
    """By path of a field that is decoded later or elsewhere: the struct of its objects."""
    types: Mapping[str, frozenset[str]] = {}
    """By path of objects that have a `type` of their own: the known types."""
    kept: frozenset[str] = frozenset()
    """Keys whose words and numbers redaction keeps, in addition to the usual ones."""
    ids: frozenset[str] = frozenset()
    """Keys of ids that do not end in `Id`."""
    phrases: tuple[str, ...] = ()
    """Beginnings of texts that the dialect reads, and frames that are no JSON; redaction keeps
    them."""
    type_of: Callable[[bytes], str] | None = None
    """Returns the type of a frame, and an empty string for a frame without one. None: it is what
    `split` returns, or the frame's field `type`."""
    split: Split | None = None
    """Returns the type and the body of a frame, whose fields are those of the struct. None: the
    frame is an object with a field `type`."""
    hidden: frozenset[str] = frozenset()
    """Paths of fields that may hold anything: redaction keeps no key and no word in them."""
    read: frozenset[str] = frozenset()
    """Paths in `hidden` whose values the dialect reads: redaction keeps their keys, ids, words."""


def tag_of(frame: type[Struct]) -> str:
    """The type of the frames that a struct decodes."""
    return str(frame.__struct_config__.tag)


def names(text: str) -> frozenset[str]:
    """The words of a text, separated by white space."""
    return frozenset(text.split())


def name_or_odd(text: str) -> str:
    """Return a type or a key of a frame for a log or a metric: `ODD` if it is not like a name."""
    return text if _NAME.fullmatch(text) else ODD


def split_bytes(split: Split, frame: bytes) -> tuple[str, Raw]:
    """Return the type and the body of a frame; the body is not decoded.

    Raises:
        msgspec.ValidationError: the frame has another shape.
        msgspec.DecodeError: it is not strict JSON.

    """
    places = _decode_places(frame)
    try:
        kind, body = split(places)
        return kind if isinstance(kind, str) else _decode_type(kind), Raw(body)
    except (LookupError, TypeError, AttributeError, ValueError) as exc:
        raise msgspec.ValidationError("not the envelope of this wire") from exc


def split_value(split: Split, frame: Any) -> tuple[str, Any]:
    """Return the type and the body of a decoded frame: an empty string, if it has none."""
    if not isinstance(frame, list | dict):
        return "", frame
    try:
        kind, body = split(frame)
    except (LookupError, TypeError, AttributeError, ValueError):
        return "", frame
    return (kind, body) if isinstance(kind, str) else ("", body)


def type_by(split: Split) -> Callable[[bytes], str]:
    """Return a function that returns the type of a frame, and an empty string if it has none."""

    def type_of(frame: bytes) -> str:
        try:
            return split_bytes(split, frame)[0]
        except msgspec.ValidationError:
            return ""
        except (msgspec.DecodeError, RecursionError):
            pass
        try:
            return split_value(split, safe_json.parse(frame))[0]
        except (ValueError, RecursionError):
            return ""

    return type_of
