from typing import get_args

import pytest

from runtime.loop.journal import answer
from turnwire_agent.llm.events import FinishReason, Usage
from turnwire_agent.loop.finish import MEANINGS, OVERFLOW, meaning, overflows

CLIENT_WORDS = {"stop", "length", "content-filter", "other", "error"}
"""Those of the AI SDK that a turn may end with."""


def test_each_reason_has_a_meaning() -> None:
    assert set(MEANINGS) == set(get_args(FinishReason))
    assert {each.finish_reason for each in MEANINGS.values()} == CLIENT_WORDS
    for each in MEANINGS.values():
        assert (each.error is None) == (each.reason == "end_turn")


def test_only_a_whole_answer_has_calls_that_run() -> None:
    assert {reason for reason, each in MEANINGS.items() if each.calls == "run"} == {
        "stop",
        "tool-calls",
        "other",
    }


@pytest.mark.parametrize(
    ("reason", "raw", "usage", "window", "expected"),
    [
        ("stop", "", Usage(), None, False),
        ("length", "model_context_window_exceeded", Usage(), None, True),
        ("stop", "", Usage(90, None, None, 11), 100, True),
        ("stop", "", Usage(90, None, None, 10), 100, False),
        ("length", "", Usage(90, None, None, 10), 100, True),
        ("length", "", Usage(90, None, None, 9), 100, False),
        ("stop", "", Usage(101), 100, True),
        ("stop", "", Usage(None, None, None, 101), 100, False),
        ("length", "", Usage(90, None, None, 11), None, False),
    ],
)
def test_an_answer_may_fill_the_window(
    reason: FinishReason, raw: str, usage: Usage, window: int | None, *, expected: bool
) -> None:
    assert overflows(reason, raw, usage, window) is expected
    means = meaning(answer(finish=reason, raw=raw, usage=usage), window)
    assert (means is OVERFLOW) is expected
