"""The vocabulary of a wire, as its own package has it: each type of its events, with the fields.

`tests/golden/vocabularies` has one of each wire, by the version of the package. `tests/agents` and
`tests/models` compare them with the packages that are installed; with `GOLDEN=rewrite` they write
them anew.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

FOLDER: Final = Path(__file__).parents[1] / "golden/vocabularies"

Types: TypeAlias = dict[str, list[str]]


def vocabulary(wire: str) -> dict[str, Types]:
    """The types of a wire with their fields, by the version of the package."""
    found: dict[str, Types] = json.loads((FOLDER / f"{wire}.json").read_text())
    return found


def renewed(wire: str, printed: dict[str, Types]) -> dict[str, Types]:
    """The vocabulary of a wire; `GOLDEN=rewrite` puts what its package printed in its place."""
    if os.environ.get("GOLDEN") == "rewrite":
        (FOLDER / f"{wire}.json").write_text(_written(printed))
    return vocabulary(wire)


def _written(versions: dict[str, Types]) -> str:
    """JSON with a line for each type, so that a diff shows what is new."""
    blocks = []
    for version, found in versions.items():
        lines = [f"    {json.dumps(kind)}: {json.dumps(fields)}" for kind, fields in found.items()]
        blocks.append(f"  {json.dumps(version)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def types(wire: str) -> dict[str, set[str]]:
    """Those of all versions together."""
    found: dict[str, set[str]] = {}
    for version in vocabulary(wire).values():
        for kind, fields in version.items():
            found.setdefault(kind, set()).update(fields)
    return found


def fields_of(struct: type[Struct]) -> set[str]:
    """The fields of a struct, as they stand in a frame."""
    return {field.encode_name for field in msgspec.structs.fields(struct)}


def fields_by_tag(structs: Iterable[Any]) -> dict[str, set[str]]:
    """The fields of tagged structs, by their tags."""
    return {str(struct.__struct_config__.tag): fields_of(struct) for struct in structs}
