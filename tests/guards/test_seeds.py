"""A loop over seeds runs its test with each, and names the one that fails."""

import asyncio

import pytest

from support.seeds import each_seed


def test_the_seed_that_fails_is_named() -> None:
    seen: list[int] = []

    @each_seed(9)
    def fails_at_three(seed: int) -> None:
        seen.append(seed)
        assert seed != 3

    with pytest.raises(AssertionError) as failed:
        fails_at_three()

    assert seen == [0, 1, 2, 3]
    assert failed.value.__notes__ == ["The seed is 3."]


def test_a_test_that_nobody_would_await_is_refused() -> None:
    async def waits(seed: int) -> None:
        await asyncio.sleep(seed)

    with pytest.raises(TypeError, match="waits is async"):
        each_seed(9)(waits)  # type: ignore[arg-type]  # mypy says it, too


def test_a_generator_that_nobody_would_run_is_refused() -> None:
    with pytest.raises(TypeError, match="yields is async or a generator"):

        @each_seed(9)
        def yields(seed: int):  # type: ignore[no-untyped-def]  # noqa: ANN202 (as careless as can be)
            yield seed
