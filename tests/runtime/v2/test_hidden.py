import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire_agent.v2.hidden import HIDDEN, no_secrets, shown_input

SECRET = frozenset({"token"})


@pytest.mark.parametrize(
    ("call_input", "shown"),
    [
        ({"token": "canary", "path": "a"}, {"token": HIDDEN, "path": "a"}),
        ({"token": {"deep": "canary"}}, {"token": HIDDEN}),
        ({"path": "a"}, {"path": "a"}),
        ({}, {}),
        (["canary"], HIDDEN),
        ("canary", HIDDEN),
        (None, HIDDEN),
    ],
)
def test_secret_arguments_are_replaced(call_input: Any, shown: Any) -> None:
    found = shown_input(Raw(json.dumps(call_input).encode()), SECRET)

    assert json.loads(bytes(found)) == shown


def test_a_tool_without_secrets_is_shown_as_it_is() -> None:
    call_input = Raw(b'{"token":  1}')

    assert shown_input(call_input, no_secrets("any")) is call_input


def test_an_input_that_is_nested_too_deeply_is_hidden() -> None:
    deep = Raw(b'{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}")

    assert json.loads(bytes(shown_input(deep, SECRET))) == HIDDEN
