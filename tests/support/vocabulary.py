"""The vocabulary of a wire, as its own package has it: each type of its events, with the fields.

`tests/golden/vocabularies` has one of each wire, by the version of the package. `tests/agents` and
`tests/models` compare them with the packages that are installed; with `GOLDEN=rewrite` they write
them anew.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from turnwire.core.wire.frame_stats import FrameStats
from turnwire_lab.docs.lost import ALL, ANY, BY_NAME, NOTHING

FOLDER: Final = Path(__file__).parents[1] / "golden/vocabularies"

Types: TypeAlias = dict[str, list[str]]
Lost: TypeAlias = Mapping[tuple[str, str], str]


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


def unlisted(
    known: Mapping[str, Iterable[str]], read: Mapping[str, Iterable[str]], lost: Lost
) -> list[str]:
    """What nobody reads and no row names, of the `known` types and fields."""
    found: list[str] = []
    for kind, fields in known.items():
        if (kind, ALL) in lost:
            continue
        if kind not in read:
            found.append(kind)
            continue
        missing = {*fields} - {*read[kind]}
        found += [
            f"{kind} {field}"
            for field in sorted(missing)
            if (kind, field) not in lost and (ANY, field) not in lost
        ]
    return found


def invented(known: Mapping[str, Iterable[str]], lost: Lost) -> list[str]:
    """Rows for what the vocabulary has not."""
    anywhere = {field for fields in known.values() for field in fields}
    return [
        f"{kind} {field}"
        for kind, field in lost
        if (field not in anywhere if kind == ANY else kind not in known)
        or (kind != ANY and field != ALL and field not in known[kind])
    ]


def claims(lost: Lost) -> set[tuple[str, str]]:
    """The rows that say where something is counted."""
    return {row for row, becomes in lost.items() if not becomes.startswith(NOTHING)}


def silent(lost: Lost) -> Iterator[tuple[str, str]]:
    """The rows that say that nothing is counted, of a field of one type."""
    for (kind, field), becomes in lost.items():
        if becomes.startswith(NOTHING) and kind != ANY and field != ALL:
            yield kind, field


def is_counted(stats: FrameStats, kind: str, becomes: str) -> bool:
    """Whether these counters have what the row for a type says."""
    if becomes.startswith(BY_NAME):
        return kind in stats.left_out or kind in stats.unrecognised
    found = re.match(r"`([^`]+)`( of the log line)?", becomes)
    assert found is not None, f"the row for {kind} names no word"
    word, is_field = found.groups()
    return getattr(stats, word) is not None if is_field else word in stats.left_out
