"""Changes of a JSON document (RFC 6902), with a bound for their number, their depth and their size.

`apply(document, patch, most_bytes)` changes a decoded document in place. If it raises, the
document may be half changed: the caller keeps the document as bytes, and decodes it for each patch.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core.bounds import Word

OPERATIONS_MAX: Final = 1_000
"""Most operations of one patch."""

POINTER_MAX: Final = 4_096
"""Longest pointer, in characters."""

DEPTH_MAX: Final = 64
"""Most names in a pointer."""

Json: TypeAlias = Any

_Pointer = Annotated[str, Meta(max_length=POINTER_MAX)]


class BadPatchError(ValueError):
    """A patch cannot be applied to this document, or would make it too large."""


class _Operation(Struct, frozen=True):
    op: Word
    path: _Pointer
    source: _Pointer = msgspec.field(default="", name="from")
    value: Raw = Raw()


_decode_patch = msgspec.json.Decoder(
    Annotated[list[_Operation], Meta(max_length=OPERATIONS_MAX)]
).decode
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def apply(document: Json, patch: Raw, most_bytes: int) -> Json:
    """Return the document with the changes of a patch.

    `most_bytes` bounds what is added, copied and compared in all.

    Raises:
        BadPatchError: it does not fit the document, or adds too much.
        msgspec.DecodeError: it is no patch.

    """
    left = most_bytes
    for operation in _decode_patch(patch):
        path = _names(operation.path)
        match operation.op:
            case "add" | "replace":
                left -= len(operation.value)
                value = _value(operation, left)
                if operation.op == "replace":
                    document = _removed(document, path)
                document = _added(document, path, value)
            case "remove":
                document = _removed(document, path)
            case "move":
                source = _names(operation.source)
                if path[: len(source)] == source and path != source:
                    raise BadPatchError("a value cannot move into itself")
                moved = _found(document, source)
                document = _added(_removed(document, source), path, moved)
            case "copy":
                copied = _encode(_found(document, _names(operation.source)))
                left -= len(copied)
                if left < 0:
                    raise BadPatchError("too large")
                document = _added(document, path, _decode(copied))
            case "test":
                found = _sorted(_found(document, path))
                left -= len(found)
                if found != _sorted(_value(operation, left)):
                    raise BadPatchError("a test failed")
            case _:
                raise BadPatchError("an unknown operation")
    return document


def _value(operation: _Operation, left: int) -> Json:
    if not operation.value:
        raise BadPatchError("an operation without its value")
    if left < 0:
        raise BadPatchError("too large")
    return _decode(operation.value)


def _names(pointer: str) -> Sequence[str]:
    """The names in a pointer (RFC 6901)."""
    first, *names = pointer.split("/")
    if first or len(names) > DEPTH_MAX:
        raise BadPatchError("no pointer, or one that is too deep")
    return [name.replace("~1", "/").replace("~0", "~") for name in names]


def _found(document: Json, names: Sequence[str]) -> Json:
    for name in names:
        document = _child(document, name)
    return document


def _child(holder: Json, name: str) -> Json:
    if isinstance(holder, dict):
        if name not in holder:
            raise BadPatchError("no such value")
        return holder[name]
    if isinstance(holder, list):
        return holder[_index(name, len(holder) - 1)]
    raise BadPatchError("no such value")


def _index(name: str, last: int) -> int:
    """The index that a name is; RFC 6901 knows no zeros before it."""
    if not (name.isascii() and name.isdigit()) or (name[0] == "0" and name != "0"):
        raise BadPatchError("no index")
    if len(name) > len(str(last)) or int(name) > last:
        raise BadPatchError("no such index")
    return int(name)


def _added(document: Json, names: Sequence[str], value: Json) -> Json:
    if not names:
        return value
    holder, name = _found(document, names[:-1]), names[-1]
    if isinstance(holder, dict):
        holder[name] = value
    elif isinstance(holder, list):
        holder.insert(len(holder) if name == "-" else _index(name, len(holder)), value)
    else:
        raise BadPatchError("no object or list")
    return document


def _removed(document: Json, names: Sequence[str]) -> Json:
    if not names:
        return None
    holder, name = _found(document, names[:-1]), names[-1]
    _child(holder, name)
    if isinstance(holder, dict):
        del holder[name]
    else:
        del holder[int(name)]
    return document


def _sorted(value: Json) -> bytes:
    """A value in one form, to compare: for Python `True` equals `1`."""
    return msgspec.json.encode(value, order="sorted")
