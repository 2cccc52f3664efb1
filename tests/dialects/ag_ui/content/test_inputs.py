"""The inputs of calls: which are the same, and which have more than others."""

import pytest
from msgspec import Raw

from turnwire.dialects.ag_ui.content.inputs import digest, has_all, joined


@pytest.mark.parametrize(
    ("name", "other", "is_same"),
    [
        ("delete", b'{"b": 1.0, "a": 2}', True),
        ("delete", b'{"a":2}', False),
        ("remove", b'{"a":2,"b":1}', False),
    ],
)
def test_calls_are_the_same_if_tool_and_input_are(
    name: str, other: bytes, *, is_same: bool
) -> None:
    first = digest("delete", Raw(b'{"a":2,"b":1}'))
    assert (first == digest(name, Raw(other))) is is_same


@pytest.mark.parametrize(
    ("known", "has"),
    [(b'{"a":1.0}', True), (b'{"a":2}', False), (b'{"c":1}', False), (b"{}", False), (b"1", False)],
)
def test_an_input_has_more_if_it_has_all_fields_of_one_that_has_some(
    known: bytes, *, has: bool
) -> None:
    assert has_all(Raw(b'{"a":1,"b":2}'), Raw(known)) is has


def test_pieces_are_json_or_a_text() -> None:
    assert joined([]) is None
    assert joined(['{"a"', ":1}"]) == Raw(b'{"a":1}')
    assert joined(['{"a"']) == Raw(b'"{\\"a\\""')
