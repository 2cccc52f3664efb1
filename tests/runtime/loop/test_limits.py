import pytest

from turnwire_agent.loop.limits import Limits


def test_the_defaults_are_allowed() -> None:
    assert Limits().steps == 10


@pytest.mark.parametrize("name", ["repairs", "takeovers", "reruns"])
def test_a_turn_may_do_nothing_again(name: str) -> None:
    assert getattr(Limits(**{name: 0}), name) == 0
    with pytest.raises(ValueError, match=f"limits.{name}: at least 0"):
        Limits(**{name: -1})


@pytest.mark.parametrize("name", ["steps", "attempts", "calls", "concurrency", "turn_s"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_bound_that_no_turn_can_keep_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"limits.{name}: at least 1"):
        Limits(**{name: value})  # type: ignore[arg-type]
