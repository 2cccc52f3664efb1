"""A little code. Some changes of it are noticed by `checks`, some are not, on purpose."""

import functools
from collections.abc import Callable
from enum import Enum
from typing import Final, assert_never

opened: list[str] = []


class Side(Enum):
    LEFT = "left"
    RIGHT = "right"


def is_full(count: int, limit: int) -> bool:
    return count >= limit


def grade(points: int) -> str:
    if points > 10:
        return "many"
    return "few"


def counted_down(count: int) -> int:
    while count:
        count -= 1
    return count


def turn(side: Side) -> int:
    """Which way."""
    match side:
        case Side.LEFT:
            return -90
        case Side.RIGHT:
            return 90
        case _:
            assert_never(side)


@functools.cache
def doubled(number: int) -> int:
    return number * 2


six: Final = doubled(3)


def halved(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number // 2


def held(work: Callable[[int], int] = halved) -> Callable[[int], int]:
    def twice(number: int) -> int:
        return work(number) + work(number)

    return twice


held_twice: Final = held()


class Door:
    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def label(self) -> str:
        return f"door {self._name}"

    def open(self) -> None:
        opened.append(self._name)


def never_run(number: int) -> int:
    return number + 1
