"""What a wire schema decodes, as paths: `init.session.id`."""

from collections.abc import Iterable, Iterator
from typing import Any, get_args

import msgspec
from msgspec import Struct

from turnwire.core.wire.schema import WireSchema


def paths_of(schema: WireSchema) -> set[str]:
    """The path of every field that some struct of the schema decodes."""
    roots = {str(frame.__struct_config__.tag): frame for frame in schema.frames}
    found = {path for root, frame in roots.items() for path in _fields(root, frame)}
    for path, struct in schema.inside.items():
        found |= set(_fields(path, struct))
    return found


def unknown_paths(schema: WireSchema, paths: Iterable[str]) -> list[str]:
    """Those that are neither a frame nor a decoded field."""
    types = {str(frame.__struct_config__.tag) for frame in schema.frames}
    return sorted(set(paths) - types - paths_of(schema))


def _fields(path: str, struct: type[Struct]) -> Iterator[str]:
    for field in msgspec.structs.fields(struct):
        name = f"{path}.{field.encode_name}"
        yield name
        for inner in _structs(field.type):
            yield from _fields(name, inner)


def _structs(kind: Any) -> Iterator[type[Struct]]:
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
    for part in get_args(kind):
        yield from _structs(part)
