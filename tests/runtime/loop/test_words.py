from typing import get_args

import pytest

from turnwire_agent.llm.faults import FaultKind
from turnwire_agent.loop.words import LOSSES, TOO_LONG, of_loss


def test_each_fault_has_its_words() -> None:
    assert set(LOSSES) == {*get_args(FaultKind), TOO_LONG}
    assert of_loss("quota", 5.0) == LOSSES["quota"]
    assert of_loss("of a newer program", None) == LOSSES["server"]


@pytest.mark.parametrize(
    ("seconds", "wait"),
    [
        (0.2, "in 1 s."),
        (61.4, "in 61 s."),
        (119.0, "in 119 s."),
        (3_600.0, "in 60 minutes."),
        (float("inf"), "in 16667 minutes."),
        (None, "later."),
    ],
)
def test_how_long_to_wait_is_told(seconds: float | None, wait: str) -> None:
    assert of_loss("rate-limited", seconds).endswith(f" Try again {wait}")
