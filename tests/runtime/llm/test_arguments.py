import json

import pytest

from turnwire_agent.llm.shapes.arguments import is_object, sendable


@pytest.mark.parametrize("arguments", ["{}", ' {"a" : 1.0}\n', '{"ü":[{}]}'])
def test_an_object_goes_back_as_it_came(arguments: str) -> None:
    assert is_object(arguments)
    assert sendable(arguments) == arguments


@pytest.mark.parametrize("arguments", ["", " \n"])
def test_nothing_is_an_empty_object(arguments: str) -> None:
    assert sendable(arguments) == "{}"


@pytest.mark.parametrize("arguments", ["[]", "1", '{"a": "b', "{}{}", "[" * 100_000, "null"])
def test_anything_else_goes_back_in_an_object(arguments: str) -> None:
    assert not is_object(arguments)
    assert json.loads(sendable(arguments)) == {"INVALID_JSON": arguments}


def test_half_a_character_is_replaced() -> None:
    assert json.loads(sendable('{"\ud800":1}')) == {"INVALID_JSON": '{"\ufffd":1}'}
