"""The schema of a dialect's frames, for drift detection and redaction.

Each dialect declares one `WireSchema`: `core.recording.drift` finds with it what an agent sends
and this build does not know, `core.recording.redact` which words it must keep.

A path is a frame's type and the names of fields from there on, joined by dots: `init.session.id`.
The elements of an array have the path of the array.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

_NAME: Final = re.compile(r"[A-Za-z0-9_$.:/-]{1,64}")
ODD: Final = "(odd)"
"""Replaces a type or a key that does not look like a name: it may hold arbitrary text."""


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
    """Returns the type of a frame, and an empty string for a frame without one. None: it is the
    frame's field `type`."""
    hidden: frozenset[str] = frozenset()
    """Paths of fields that may hold anything: redaction keeps no key and no word in them."""
    read: frozenset[str] = frozenset()
    """Paths in `hidden` by which the dialect goes: redaction keeps their keys, ids and words."""


def names(text: str) -> frozenset[str]:
    """The words of a text, separated by white space."""
    return frozenset(text.split())


def name_or_odd(text: str) -> str:
    """Return a type or a key of a frame for a log or a metric: `ODD` if it is not like a name."""
    return text if _NAME.fullmatch(text) else ODD
