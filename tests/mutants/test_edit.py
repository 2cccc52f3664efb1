"""A changed function is the right one but for the change."""

import ast
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from mutants.edit import constant, decided, edited, instead, unasked, without
from mutants.fault import Fault, Function, planted

unchanged = edited(ast.Return, lambda node: node)
WORD = "world"


class Base:
    def greeting(self, name: str = "you") -> str:
        return f"hello {name}"


class Derived(Base):
    def greeting(self, name: str = "you", *, end: str = "!") -> str:
        """A docstring, which is no statement."""
        parts = [*super().greeting(name).split(), end]
        parts.reverse()
        parts.reverse()
        return " ".join(parts)

    @property
    def word(self) -> str:
        return WORD

    @staticmethod
    def among(number: int, *, least: int = 2) -> bool:
        if number > 9:
            return False
        return least <= number and number != 5 and (number < 7 or number == 8)


def counted(step: int) -> Callable[[int], int]:
    start = 10

    def count(times: int) -> int:
        total = start
        for _ in range(times):
            total += step
            if total > 100:
                break
        return total if times else 0

    return count


@pytest.mark.parametrize("right", [Derived.greeting, Derived.among, counted(3), Base.greeting])
def test_without_a_change_it_is_the_right_one(right: Function) -> None:
    same = unchanged(right)

    assert same is not right
    assert same.__code__.co_code == right.__code__.co_code
    assert same.__code__.co_consts == right.__code__.co_consts
    assert same.__closure__ == right.__closure__
    assert inspect.signature(same) == inspect.signature(right)
    assert same.__qualname__ == right.__qualname__


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (unchanged, "hello you !"),
        (without(ast.Starred), "!"),
        (without(ast.Expr), "! you hello"),
        (without(ast.Expr, -1), "! you hello"),
        (constant(" ", "_"), "hello_you_!"),
        (instead(ast.Return, "return end"), "!"),
        (instead(ast.List, "[name]"), "you"),
    ],
)
def test_a_method_keeps_its_super_and_its_defaults(
    change: Callable[[Function], Function], says: str
) -> None:
    assert change(Derived.greeting)(Derived()) == says


@pytest.mark.parametrize(
    ("change", "among"),
    [
        (unchanged, [2, 3, 4, 6, 8]),
        (unasked(1), [0, 1, 2, 3, 4, 6, 8]),
        (unasked(2), [2, 3, 4, 5, 6, 8]),
        (unasked(3), [2, 3, 4, 6, 7, 8, 9]),
        (unasked(2, nth=2), [2, 3, 4, 6]),
        (unasked(1, nth=-1), [8]),
        (instead(ast.Compare, "True", nth=3), [2, 3, 4, 5, 6, 8]),
        (decided(ast.If, outcome=True), []),
        (constant(7, 4), [2, 3, 8]),
    ],
)
def test_conditions(change: Callable[[Function], Function], among: list[int]) -> None:
    function = change(partial(Derived.among, least=2).func)

    assert [number for number in range(10) if function(number)] == among


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (unchanged, (0, 16, 103)),
        (without(ast.AugAssign), (0, 10, 10)),
        (without(ast.Break), (0, 16, 130)),
        (without(ast.For), (0, 10, 10)),
        (decided(ast.IfExp, outcome=True), (10, 16, 103)),
        (decided(ast.If, outcome=True), (0, 14, 14)),
    ],
)
def test_a_closure_is_kept(change: Callable[[Function], Function], counts: tuple[int, ...]) -> None:
    function = change(counted(4 if counts[1] == 14 else 3))

    assert (function(0), function(2), function(40)) == counts


def test_a_property_is_changed_where_it_is_planted() -> None:
    fault = Fault("silent", f"{__name__}:Derived.word", instead(ast.Name, '"none"'))

    with planted(fault):
        assert Derived().word == "none"

    assert Derived().word == "world"


@pytest.mark.parametrize(
    "change",
    [
        without(ast.Break),
        without(ast.Starred, 2),
        without(ast.Starred, -2),
        constant("you", "me"),  # a default, and no code
        constant(True, False),  # noqa: FBT003
        unasked(1),
        decided(ast.If, outcome=True),
    ],
)
def test_what_is_not_there_cannot_be_changed(change: Callable[[Function], Function]) -> None:
    with pytest.raises(LookupError, match=r"Derived\.greeting has no"):
        change(Derived.greeting)


def test_a_term_that_is_not_there_cannot_be_left_out() -> None:
    with pytest.raises(LookupError, match=r"no 4\. term"):
        unasked(4)(Derived.among)


def test_a_function_without_source_cannot_be_changed() -> None:
    made: dict[str, Any] = {}
    exec(compile("def made(): return 1", __file__, "exec"), made)  # noqa: S102

    with pytest.raises(LookupError, match="made is not in"):
        unchanged(made["made"])
