"""A tool's own key is a text that a receiver can take, or the call fails."""

from collections.abc import Callable
from typing import Any

import pytest

from runtime.tools.schema_words import TEXT, of
from turnwire_agent.tools.arguments import Valid
from turnwire_agent.tools.contract import Effect, Tool, ToolFailed
from turnwire_agent.tools.keys import KEY_MAX, NO_KEY, own_key


def tool_of(key: Callable[[Any], Any] | None) -> Tool:
    return Tool(
        name="pay",
        schema=of({"order": TEXT}),
        validate=lambda _: Valid({}),
        call=lambda *_: None,
        effect=Effect.KEYED,
        key=key,
    )


def raises(value: dict[str, str]) -> str:
    raise RuntimeError(value["order"])


def test_a_key_is_what_the_function_makes_of_the_arguments() -> None:
    assert own_key(tool_of(lambda value: f"order {value['order']}"), {"order": "é7"}) == "order é7"
    assert own_key(tool_of(lambda _: "x" * KEY_MAX), {}) == "x" * KEY_MAX
    assert own_key(tool_of(None), {}) is None


@pytest.mark.parametrize("made", ["", "x" * (KEY_MAX + 1), "a\nb", "\ud800", None, 7, b"key"])
def test_what_is_no_key_is_a_failure_in_fixed_words(made: object) -> None:
    with pytest.raises(ToolFailed, match=NO_KEY):
        own_key(tool_of(lambda _: made), {})


def test_a_function_that_raises_is_not_quoted() -> None:
    with pytest.raises(ToolFailed) as failed:
        own_key(tool_of(raises), {"order": "a secret"})

    assert str(failed.value) == NO_KEY
