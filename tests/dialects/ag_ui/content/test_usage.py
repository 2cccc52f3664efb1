"""Tokens: entries, models and runs are summed; what a run says of itself counts alone."""

import json
from typing import Any

import pytest
from msgspec import Raw

from turnwire.dialects.ag_ui.content.usage import Usage


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def total(usage: Usage) -> Any:
    return None if usage.total is None else json.loads(bytes(usage.total))


def test_entries_and_runs_are_summed() -> None:
    usage = Usage()

    usage.run_ended(raw([{"model": "a", "inputTokens": 1}, {"model": "b", "inputTokens": 2}]))
    usage.run_ended(raw([{"inputTokens": 4, "outputTokens": 8}]))

    assert total(usage) == {"inputTokens": 7, "outputTokens": 8}


def test_counts_before_the_end_are_running_totals_and_count_where_the_end_has_none() -> None:
    usage = Usage()

    usage.used_so_far(
        raw({"input_token_count": 1, "total_token_count": 3, "output_token_count": 2})
    )
    usage.used_so_far(raw({"input_token_count": 2}))
    usage.run_ended(Raw())
    assert total(usage) == {"inputTokens": 2, "totalTokens": 3, "outputTokens": 2}
    usage.used_so_far(raw({"inputTokens": 9}))
    usage.run_ended(raw([{"inputTokens": 4}]))
    assert total(usage) == {"inputTokens": 6, "totalTokens": 3, "outputTokens": 2}


@pytest.mark.parametrize(
    "odd", [None, 7, {}, [], [7], [{"inputTokens": "1"}], [{"inputTokens": -1}], [{"x": True}]]
)
def test_what_is_no_count_is_left_out(odd: Any) -> None:
    usage = Usage()

    usage.run_ended(raw(odd))

    assert usage.total is None


def test_counts_are_bounded() -> None:
    usage = Usage()

    usage.run_ended(raw([{f"count{number}": 1 for number in range(50)}]))
    usage.run_ended(raw([{"count0": 2**53}, {"count0": 2**53}]))

    assert len(total(usage)) == 16
    assert total(usage)["count0"] == 2**53
