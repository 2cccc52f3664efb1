"""How deep JSON is nested."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire_agent.tools.nesting import LEVELS_MAX, is_too_deep

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.text(alphabet='ab"\\[]{}\n', max_size=8) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def nested(levels: int, inside: Any = 0) -> Any:
    value = inside
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@given(VALUES)
def test_the_levels_count_and_not_what_stands_in_texts(value: Any) -> None:
    most = _levels(value)
    around = LEVELS_MAX - most

    for levels, too_deep in ((around, False), (around + 1, True)):
        assert is_too_deep(json.dumps(nested(levels, value)).encode()) is too_deep


@pytest.mark.parametrize(
    ("value", "too_deep"),
    [
        ([[]] * 10_000, False),
        ("[" * 10_000, False),
        ({"a": ["]", '\\"', "[" * 200]}, False),
        (nested(LEVELS_MAX), False),
        (nested(LEVELS_MAX + 1), True),
        ([[]] * 10_000 + [nested(LEVELS_MAX)], True),
    ],
)
def test_wide_is_not_deep(value: Any, *, too_deep: bool) -> None:
    assert is_too_deep(json.dumps(value).encode()) is too_deep


def _levels(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_levels, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_levels, value), default=0)
    return 0
