"""Rows of a journal as an earlier program wrote them are read, and are written the same way.

`rows-1.jsonl` has the body of a row on each line: each kind, with all fields that the sessions of
`story` give it. Rows may come; then `KEPT=rewrite` adds them. A row that is there is never changed:
it stands in somebody's journal.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from runtime.session.story import Story
from turnwire_agent.session import events as e
from turnwire_agent.session.codec import event_of, row_of

FILE: Final = Path(__file__).parent / "rows-1.jsonl"
SEEDS: Final = range(25)


def places(value: Any, path: str = "") -> Iterator[str]:
    """Where a value has fields, with the kinds of the structs there."""
    match value:
        case dict():
            of_kind = f"{path}<{value['type']}>" if isinstance(value.get("type"), str) else path
            for name, each in value.items():
                yield f"{of_kind}.{name}"
                yield from places(each, f"{of_kind}.{name}")
        case list():
            for each in value:
                yield from places(each, f"{path}[]")
        case _:
            yield path


def rows() -> list[str]:
    kept = FILE.read_text().split("\n")[:-1] if FILE.exists() else []  # a text may have other lines
    if os.environ.get("KEPT") == "rewrite":
        seen = {place for line in kept for place in places(json.loads(line))}
        for seed in SEEDS:
            for event in Story(seed).events():
                body = row_of(event)[1].decode()
                if new := set(places(json.loads(body))) - seen:
                    seen |= new
                    kept.append(body)
        FILE.write_text("".join(f"{line}\n" for line in kept))
    return kept


@pytest.mark.parametrize("line", rows(), ids=lambda line: line[:30])
def test_a_row_of_an_earlier_program_is_read_and_loses_nothing(line: str) -> None:
    kind = json.loads(line)["type"]
    written_kind, body, _ = row_of(event_of(kind, line.encode()))

    assert written_kind == kind
    assert json.loads(body) == json.loads(line)


def test_each_kind_is_kept() -> None:
    kinds: set[str] = {kind.__struct_config__.tag for kind in get_args(e.Event)}

    assert {json.loads(line)["type"] for line in rows()} == kinds
