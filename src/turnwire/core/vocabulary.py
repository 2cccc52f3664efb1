"""What a dialect knows of its wire, for whoever looks at frames without reading them.

One declaration a dialect: `core.drift` finds by it what the wire has that this build does not
know, `core.redact` what it may not touch.

A path is a frame's type and the names of fields from there on, joined by dots: `init.session.id`.
The elements of an array have the array's path.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct


class Vocabulary(Struct, frozen=True, kw_only=True):
    frames: Sequence[type[Struct]]
    """The frames, tagged by their type. One without fields is known by its type, and no further."""
    deltas: frozenset[str]
    """The types that come by the hundred thousand."""
    unread: Mapping[str, frozenset[str]]
    """By path of an object: its fields that are known, and that nothing reads. `*`: all others."""
    inside: Mapping[str, type[Struct]]
    """By path of a field that is read later or elsewhere: what its objects are."""
    types: Mapping[str, frozenset[str]]
    """By path of objects that have types of their own: those that are known."""
    kept: frozenset[str] = frozenset()
    """Keys whose words and numbers the wire is read by, beside the usual ones (`core.redact`)."""
    ids: frozenset[str] = frozenset()
    """Keys of ids that do not end in `Id`."""
    phrases: tuple[str, ...] = ()
    """Beginnings of texts that the wire is read by."""


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
