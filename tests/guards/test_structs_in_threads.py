"""Types of bodies are made ready when their module is imported.

msgspec makes a `Struct` ready when it is first read. If two threads come first at once, the process
ends with a segmentation fault (0.22.0). So a function reads no `Struct` that its module did not
give to a decoder. It reads no shape that its caller chooses, either: such a one is not ready, or a
decoder would do.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
SOURCES: Final = (
    ROOT / "src/turnwire",
    ROOT / "packages/turnwire-agent/src",
    ROOT / "packages/turnwire-client/src",
)
NO_STRUCT: Final = {"Raw"}
CHOSEN: Final = {
    "packages/turnwire-agent/src/turnwire_agent/setting_errors.py": ["kind"],
    "src/turnwire/config/environ.py": ["hint"],
}
"""Shapes that a caller chooses. Settings are read at the start, in one thread."""


def shape_read(call: ast.Call) -> ast.expr | None:
    """What `msgspec.json.decode` and `msgspec.convert` are to make. None: another call."""
    match call.func:
        case ast.Attribute(attr="decode"):
            return next((each.value for each in call.keywords if each.arg == "type"), None)
        case ast.Attribute(value=ast.Name(id="msgspec"), attr="convert"):
            named = (each.value for each in call.keywords if each.arg == "type")
            return call.args[1] if len(call.args) > 1 else next(named)
        case _:
            return None


def classes(shape: ast.expr) -> Iterator[str]:
    """Names that begin as a class does, also within `list[...]`."""
    for node in ast.walk(shape):
        name = getattr(node, "attr", getattr(node, "id", ""))
        if name.lstrip("_")[:1].isupper() and name not in NO_STRUCT | {"Any"}:
            yield name


def chosen(shape: ast.expr, tree: ast.Module) -> Iterator[str]:
    """Names of parameters in it."""
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(shape):
        if isinstance(node, ast.Name) and node.id in parameters:
            yield node.id


def late(source: str) -> list[str]:
    """Names of shapes that are read in a function, and were not made ready before."""
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    ready = {
        name
        for call in calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == "Decoder"
        for name in classes(call)
    }
    shapes = [shape for call in calls if (shape := shape_read(call)) is not None]
    of_callers = {name for shape in shapes for name in chosen(shape, tree)}
    return sorted({name for shape in shapes for name in classes(shape)} - ready | of_callers)


def test_every_shape_is_ready_before_a_thread_can_read_it() -> None:
    found = {
        str(path.relative_to(ROOT)): names
        for folder in SOURCES
        for path in sorted(folder.rglob("*.py"))
        if (names := late(path.read_text(encoding="utf-8")))
    }

    assert found == CHOSEN


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def f(b): return msgspec.json.decode(b, type=_Pair)", ["_Pair"]),
        ("def f(b): return msgspec.json.decode(b, type=list[frames.Init])", ["Init"]),
        ("def f(v): return msgspec.convert(v, Question, strict=False)", ["Question"]),
        ("def f(v): return msgspec.convert(v, type=Question)", ["Question"]),
        ("def f(b, shape): return msgspec.json.decode(b, type=shape)", ["shape"]),
        ("msgspec.json.Decoder(Question)\ndef f(v): return msgspec.convert(v, Question)", []),
        ("def f(b): return msgspec.json.decode(b, type=dict[str, Raw])", []),
        ("def f(b): return b.decode()", []),
    ],
)
def test_a_shape_that_is_not_ready_is_found(source: str, names: list[str]) -> None:
    assert late(source) == names
