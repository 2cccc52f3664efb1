"""The schema of a wire: its names, and paths that lead somewhere."""

import pytest

from turnwire.core.wire.schema import ODD, WireSchema, name_or_odd, names
from turnwire.dialects import DIALECTS

SCHEMAS = [pytest.param(dialect.schema, id=name) for name, dialect in DIALECTS.items()]


@pytest.mark.parametrize("name", ["message.part.text-delta", "a", "a" * 64, "user:joined/2", "$_1"])
def test_what_looks_like_a_name_is_shown(name: str) -> None:
    assert name_or_odd(name) == name


@pytest.mark.parametrize("text", ["", "a" * 65, "two words", "a\n", "\u00e9", '{"a":1}', "<b>"])
def test_any_other_text_is_not(text: str) -> None:
    assert name_or_odd(text) == ODD


def test_names_are_separated_by_white_space() -> None:
    assert names(" a b\n  c-d ") == {"a", "b", "c-d"}
    assert names("") == frozenset()


@pytest.mark.parametrize("schema", SCHEMAS)
def test_each_path_begins_with_a_frame_type(schema: WireSchema) -> None:
    types = {str(frame.__struct_config__.tag) for frame in schema.frames}
    paths = {*schema.unread, *schema.inside, *schema.types}

    assert schema.deltas <= types
    assert not [path for path in paths if not any(f"{path}.".startswith(f"{t}.") for t in types)]
