import pytest

from turnwire_lab.bench.figures import Figure, difference, figure, ratio, ratio_of_many
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


def test_a_ratio_of_many_rounds_has_an_interval_that_more_rounds_make_smaller() -> None:
    """Rounds are compared one by one, and one wild round changes nothing."""
    ours = [110.0, 180.0, 100.0, 420.0, 95.0, 9_000.0]
    theirs = [100.0, 200.0, 100.0, 400.0, 100.0, 100.0]

    few = ratio_of_many(rounds(*ours), rounds(*theirs), 1)
    many = ratio_of_many(rounds(*ours * 9), rounds(*theirs * 9), 1)

    assert few is not None
    assert many is not None
    assert (few.value, few.rounds, many.value, many.rounds) == (1.025, 6, 1.025, 54)
    assert few.lower < many.lower < 1.025 < many.upper < few.upper
    assert few == ratio_of_many(rounds(*ours), rounds(*theirs), 1)
    assert (few.low, few.high, few.why_not) == (few.lower, few.upper, None)
    assert ratio_of_many({}, rounds(1), 1) is None


def test_what_differs_from_start_to_start_is_in_the_interval() -> None:
    """Rounds of one start agree, and say nothing of another start."""
    ours = [value for start in (90, 100, 110, 120, 130) for value in [start, start + 1] * 3]
    theirs = [100] * len(ours)

    apart = ratio_of_many(rounds(*ours), rounds(*theirs), 1)
    together = ratio_of_many(rounds(*ours), rounds(*theirs), 6)

    assert apart is not None
    assert together is not None
    assert apart.value == together.value == 1.105
    assert together.lower < apart.lower < 1.105 < apart.upper < together.upper


def test_two_starts_are_too_few_to_say_anything() -> None:
    said = ratio_of_many(rounds(*[2.0] * 10), rounds(*[1.0] * 10), 5)

    assert said is not None
    assert said.why_not == "2 of 3 starts"


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [
        (0.9, 1.2, MET),
        (0.7, 0.8, MET),
        (0.9, 1.3, NEAR),  # a difference of a quarter would not be seen
        (1.01, 1.2, MISSED),  # a small one is seen
    ],
)
def test_what_is_to_be_unchanged_is_so_as_far_as_one_can_see(
    lower: float, upper: float, verdict: str
) -> None:
    said = Figure(value=1.1, low=lower, high=upper, lower=lower, upper=upper, rounds=9)

    assert Goal("what", lambda _: None, same_within=0.25).verdict(said) == verdict


def test_a_ratio_that_is_not_said_meets_no_goal() -> None:
    said = ratio(rounds(4.0), rounds(1.0))

    assert Goal("what", lambda _: None, at_least=2).verdict(said) == OPEN


def test_without_a_goal_there_is_no_verdict() -> None:
    assert Goal("what", lambda _: None).verdict(figure([1, 2, 3])) == ""
