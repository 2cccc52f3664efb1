"""The texts in marks of tests. Read from their source: tests are not installed."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]

Mark = tuple[object, ...]
"""The constants in a mark's parentheses."""

Test = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: str) -> Iterator[Test]:
    """The tests of a module, in their order."""
    for each in ast.parse(source).body:
        if isinstance(each, Test) and each.name.startswith("test_"):
            yield each


def marks(test: Test, name: str) -> list[Mark]:
    """The arguments of `@pytest.mark.<name>(…)` at a test and at its cases."""
    calls = (each for decorator in test.decorator_list for each in ast.walk(decorator))
    return [mark for call in calls if (mark := _mark(call, name)) is not None]


def sentence(test: Test) -> str:
    """A test's name, which is a sentence."""
    return test.name.removeprefix("test_").replace("_", " ")


def _mark(call: ast.AST, name: str) -> Mark | None:
    match call:
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="mark"), attr=attr), args=arguments
        ) if attr == name:
            return tuple(each.value for each in arguments if isinstance(each, ast.Constant))
        case _:
            return None
