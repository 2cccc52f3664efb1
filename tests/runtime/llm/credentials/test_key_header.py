from typing import get_args

import pytest

from turnwire_agent.llm.credentials.key_header import BEARER, KEY_HEADERS, usable_key
from turnwire_agent.llm.credentials.port import Failure
from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.model import ShapeName


@pytest.mark.parametrize(
    ("shape", "headers"),
    [
        ("chat", {"authorization": "Bearer k"}),
        ("responses", {"authorization": "Bearer k"}),
        ("messages", {"x-api-key": "k"}),
        ("google", {"x-goog-api-key": "k"}),
    ],
)
def test_each_shape_has_its_header(shape: ShapeName, headers: dict[str, str]) -> None:
    assert dict(KEY_HEADERS[shape].headers(Secret("k"))) == headers


def test_no_shape_is_missing() -> None:
    assert set(KEY_HEADERS) == set(get_args(ShapeName))
    assert KEY_HEADERS["chat"] == BEARER


def test_a_key_of_visible_ascii_is_taken() -> None:
    visible = "".join(chr(code) for code in range(0x21, 0x7F))

    assert usable_key(visible, "here") == Secret(visible)


def test_an_empty_key_names_its_place() -> None:
    assert usable_key("", "the file /run/key") == Failure(
        "missing", "No key: the file /run/key is empty."
    )


@pytest.mark.parametrize(
    ("character", "described"),
    [
        ("\n", "a line break"),
        ("\r", "a line break"),
        (" ", "a space"),
        ("\t", "a control character"),
        ("\0", "a control character"),
        ("\x7f", "a control character"),
        ("é", "no ASCII letter"),
        ("\ufeff", "no ASCII letter"),
        ("\udcff", "no ASCII letter"),
    ],
)
def test_a_character_that_no_header_has_is_named_and_not_the_key(
    character: str, described: str
) -> None:
    assert usable_key(f"canary{character}canary", "here") == Failure(
        "unusable", f"The key of here has {described} as character 7. No key has that."
    )
