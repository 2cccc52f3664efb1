import pytest

from turnwire_lab.bench.figures import Figure, difference, figure, ratio
from turnwire_lab.bench.goals import MET, MISSED, NEAR, NONE, OPEN, Goal


def rounds(*values: float) -> dict[int, float]:
    return dict(enumerate(values))


def test_a_figure_is_the_median_of_its_rounds() -> None:
    said = figure([5, 1, 2, 4, 3])

    assert said == Figure(value=3, low=1, high=5, lower=2, upper=4, rounds=5)


def test_no_rounds_are_no_figure() -> None:
    assert figure([]) is None
    assert ratio({}, rounds(1)) is None
    assert ratio(rounds(1), rounds(0)) is None


def test_a_ratio_is_reckoned_round_by_round() -> None:
    """So that a machine that grows slower by the round changes nothing."""
    said = ratio(rounds(10, 20, 40), rounds(5, 10, 20))

    assert said is not None
    assert (said.value, said.low, said.high, said.why_not) == (2, 2, 2, None)


def test_only_rounds_that_both_have_count() -> None:
    said = ratio({0: 10, 1: 10, 2: 10, 4: 10}, {1: 5, 2: 5, 3: 5, 4: 5})

    assert said is not None
    assert said.rounds == 3


@pytest.mark.parametrize(
    ("ratios", "is_said"),
    [
        ((4.0, 4.0, 4.0), True),
        ((3.0, 3.4, 4.0, 4.8, 5.0), True),  # a tenth more or less does not matter at four
        ((1.0, 2.0, 4.0, 8.0, 16.0), False),
        ((1.03, 1.05, 1.07), True),
        ((0.90, 0.96, 1.05, 1.14, 1.20), False),
        ((0.2, 0.22, 0.25, 0.28, 0.3), True),  # a quarter is as far from 1 as four
        ((4.0, 4.0), False),
    ],
)
def test_a_ratio_whose_rounds_disagree_is_not_said(
    ratios: tuple[float, ...], *, is_said: bool
) -> None:
    said = ratio(rounds(*ratios), rounds(*[1.0] * len(ratios)))

    assert said is not None
    assert (said.why_not is None) is is_said


def test_what_is_added_is_reckoned_round_by_round() -> None:
    assert difference(rounds(50, 70), {0: 10, 1: 20, 2: 30}) == {0: 40, 1: 50}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [((9, 10, 11), MET), ((1, 2, 3), MISSED), ((4, 5, 6), NEAR), ((), NONE)],
)
def test_a_goal_is_met_where_the_middle_half_of_the_rounds_is(
    values: tuple[float, ...], verdict: str
) -> None:
    at_least = Goal("what", lambda _: None, at_least=5)
    at_most = Goal("what", lambda _: None, at_most=-5)

    assert at_least.verdict(figure(values)) == verdict
    assert at_most.verdict(figure([-value for value in values])) == verdict


def test_a_ratio_that_is_not_said_meets_no_goal() -> None:
    said = ratio(rounds(4.0), rounds(1.0))

    assert Goal("what", lambda _: None, at_least=2).verdict(said) == OPEN


def test_without_a_goal_there_is_no_verdict() -> None:
    assert Goal("what", lambda _: None).verdict(figure([1, 2, 3])) == ""
