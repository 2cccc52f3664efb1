"""A test that loops over seeds. Where it fails, the message names the seed."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def each_seed(seeds: int | Iterable[int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with each seed: so many from 0 on, or those that are given.

    Raises:
        TypeError: at once, for a test that is async or a generator: a call would not run it.

    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        if inspect.iscoroutinefunction(test) or _is_generator(test):
            message = f"{test.__name__} is async or a generator: a call alone would not run it"
            raise TypeError(message)

        @functools.wraps(test)
        def throws_all(**fixtures: Any) -> None:
            for seed in range(seeds) if isinstance(seeds, int) else seeds:
                try:
                    test(seed=seed, **fixtures)
                except BaseException as exc:
                    exc.add_note(f"The seed is {seed}.")
                    raise

        signature = inspect.signature(test)
        fixtures = [each for name, each in signature.parameters.items() if name != "seed"]
        # What pytest is to give it.
        vars(throws_all)["__signature__"] = signature.replace(parameters=fixtures)
        return throws_all

    return decorate


def _is_generator(test: Callable[..., object]) -> bool:
    return inspect.isgeneratorfunction(test) or inspect.isasyncgenfunction(test)
