"""Long work in steps: each is run once, and the result is that of all."""

from turnwire.core.steps import Steps, done, run_steps


def work(seen: list[int]) -> Steps[int]:
    for number in range(3):
        seen.append(number)
        yield
    return sum(seen)


def test_a_step_is_run_when_it_is_asked_for() -> None:
    seen: list[int] = []
    steps = work(seen)

    next(steps)

    assert seen == [0]


def test_all_steps_at_once_give_the_result() -> None:
    seen: list[int] = []

    assert run_steps(work(seen)) == 3
    assert seen == [0, 1, 2]


def test_what_is_done_has_no_step() -> None:
    assert list(done("x")) == []
    assert run_steps(done("x")) == "x"
