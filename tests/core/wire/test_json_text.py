"""JSON in a text, as inputs and outputs of calls are told."""

import pytest
from msgspec import Raw

from turnwire.core.wire.json_text import parsed, structured


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":1}', b'{"a":1}'),
        ("7", b"7"),
        ("", b'""'),
        ('{"a":', b'"{\\"a\\":"'),
        ("[" * 5_000 + "]" * 5_000, None),
        ('"\ud83d\ude00"', '"😀"'.encode()),
        ('"\ud83d"', '"\ufffd"'.encode()),
    ],
)
def test_an_input_is_json_or_a_text(text: str, expected: bytes | None) -> None:
    read = bytes(parsed(text))

    assert read == expected or (expected is None and read[:1] in {b"[", b'"'})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'"{\\"a\\": 1}"', b'{"a": 1}'),
        (b'" [1]"', b"[1]"),
        (b'"21"', b'"21"'),
        (b'"true"', b'"true"'),
        (b'"{no}"', b'"{no}"'),
        (b"[1]", b"[1]"),
        (b"", b"null"),
    ],
)
def test_an_output_is_an_object_or_a_list_or_as_it_is(content: bytes, expected: bytes) -> None:
    assert bytes(structured(Raw(content))) == expected
