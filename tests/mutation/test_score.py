"""Wilson's interval, beside values from a table of it."""

import pytest

from mutation.score import in_words, wilson


@pytest.mark.parametrize(
    ("noticed", "tried", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (190, 200, 0.9104, 0.9726),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson(noticed: int, tried: int, low: float, high: float) -> None:
    assert wilson(noticed, tried) == pytest.approx((low, high), abs=5e-5)


def test_in_words() -> None:
    assert in_words(5, 10) == "5 of 10 noticed: 50.0% (95 % interval 23.7% to 76.3%)"
