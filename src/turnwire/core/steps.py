"""Work in short steps, so that whoever does it can do something else in between.

What takes long is a generator: it yields after each step, and returns what comes of it.
"""

from collections.abc import Generator
from typing import TypeAlias, TypeVar

Result = TypeVar("Result")

Steps: TypeAlias = Generator[None, None, Result]


def none(result: Result) -> Steps[Result]:
    """Work that is done already."""
    return result
    yield


def whole(steps: Steps[Result]) -> Result:
    """Take all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
