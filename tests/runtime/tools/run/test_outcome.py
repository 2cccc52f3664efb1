"""What a run of a tool comes to."""

from typing import Any

import pytest
from msgspec import Raw

from turnwire_agent.tools.nesting import LEVELS_MAX
from turnwire_agent.tools.run import outcome


@pytest.mark.parametrize("result", [Raw(b"{oops"), {"a": [Raw(b"nul")]}, object(), {(1, 2): 3}])
def test_a_result_that_is_no_json_is_a_failure_in_fixed_words(result: object) -> None:
    assert outcome.done(result) == outcome.failed(outcome.NO_RESULT)


def test_json_that_a_tool_has_written_itself_is_taken() -> None:
    assert outcome.done(Raw(b'{"a": 1}')).value == b'{"a": 1}'


def test_a_result_that_is_nested_too_deep_cannot_be_kept() -> None:
    deep: list[Any] = []
    for _ in range(LEVELS_MAX):
        deep = [deep]

    assert outcome.done(deep) == outcome.failed(outcome.NO_RESULT)
    assert outcome.done(deep[0]).kind == "done"
