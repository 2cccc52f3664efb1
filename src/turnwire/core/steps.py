"""Long work in short steps, so that the event loop can do other work in between.

Such work is a generator (`Steps`): it yields after each step, and returns its result. `run_steps`
runs all steps at once.
"""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[None, None, Result]


def done(result: Result) -> Steps[Result]:
    """Work that is finished already and has this result."""
    return result
    yield


def run_steps(steps: Steps[Result]) -> Result:
    """Run all steps at once and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
