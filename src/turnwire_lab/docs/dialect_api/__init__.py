"""The page of `turnwire.dialect`: each name with its docstrings, read from the source.

The source has what a running class has lost: the docstrings of fields, constants and aliases.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from turnwire import dialect
from turnwire_lab.docs.marks import ROOT

SOURCE: Final = ROOT / "src"

GROUPS: Final[Mapping[str, Sequence[str]]] = {
    "The port": ("core.agent",),
    "Bases and helpers": ("dialect.bases", "dialect.frames", "dialect.calls", "dialect.surface"),
    "Events": ("core.events",),
    "Requests": ("core.requests", "core.terms", "core.session_group"),
    "The connection": ("core.connect",),
    "The conversation of a client": ("core.body.conversation", "core.body.attachments"),
    "Operations": ("core.operations", "core.rejection"),
    "Reading frames": (
        *("core.wire.decoder", "core.wire.census", "core.wire.event_stream"),
        *("core.wire.frame_stats", "core.wire.schema", "core.safe_json"),
    ),
    "Keeping state": ("core.wire.open_questions", "core.wire.input_pieces", "core.wire.thread_id"),
    "Bounds": ("core.bounds",),
}
"""The modules of each part of the page."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def page() -> str:
    """The whole reference."""
    modules = _imported()
    parts = []
    for heading, of_heading in GROUPS.items():
        parts.append(f"## {heading}\n")
        for module in of_heading:
            parts += _described(module, modules.pop(f"turnwire.{module}"))
    if modules:
        raise LookupError(f"no part of the page has {', '.join(modules)}")
    return "\n".join(parts)


def _imported() -> dict[str, set[str]]:
    """The names of the surface, by the module that they come from."""
    found: dict[str, set[str]] = {}
    for node in ast.parse(inspect.getsource(dialect)).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            found[node.module] = {name.name for name in node.names}
    return found


def _described(module: str, names: set[str]) -> Iterator[str]:
    """What the page says of these names, in the order of their module."""
    path = SOURCE.joinpath("turnwire", *module.split(".")).with_suffix(".py")
    for node, text in _documented(ast.parse(path.read_text()).body):
        name = _name(node)
        if name not in names:
            continue
        yield f"### `{name}`\n"
        match node:
            case ast.ClassDef():
                yield from _class(node)
            case ast.FunctionDef():
                yield f"`{name}{_signature(node)}`\n"
                yield _prose(ast.get_docstring(node))
            case ast.AnnAssign(value=ast.expr() as value) | ast.Assign(value=value):
                yield f"`{ast.unparse(value)}`\n"
                yield _prose(text)
            case _:
                raise TypeError(f"{name} is no class, function or constant")


def _class(node: ast.ClassDef) -> Iterator[str]:
    kind = getattr(dialect, node.name)
    if issubclass(kind, Struct) and kind.__struct_fields__:
        yield f"`{node.name}({_arguments(kind)})`\n"
    bases = [ast.unparse(base) for base in node.bases]
    shown = [base for base in bases if base.partition("[")[0] in dialect.__all__]
    if shown:
        yield f"A subclass of `{'`, `'.join(shown)}`.\n"
    yield _prose(ast.get_docstring(node))
    members = [line for each, text in _documented(node.body) for line in _member(each, text)]
    if members:
        yield "\n".join(members) + "\n"


def _arguments(kind: type[Struct]) -> str:
    """The arguments that make a struct: with a default as `name=…`, by name alone behind `*`."""
    arguments = inspect.signature(kind).parameters.values()
    plain = [_argument(each) for each in arguments if each.kind is not each.KEYWORD_ONLY]
    named = [_argument(each) for each in arguments if each.kind is each.KEYWORD_ONLY]
    return ", ".join([*plain, "*", *named] if named else plain)


def _argument(argument: inspect.Parameter) -> str:
    return argument.name if argument.default is argument.empty else f"{argument.name}=…"


def _member(node: ast.stmt, text: str | None) -> Iterator[str]:
    name = _name(node)
    if name.startswith("_") and name != "__init__":
        return
    match node:
        case ast.AnnAssign(annotation=kind):
            yield _item(f"{name}: {ast.unparse(kind)}{_default(node.value)}", text)
        case ast.Assign(value=value):
            is_auto = ast.unparse(value) == "enum.auto()"
            yield _item(name if is_auto else f"{name} = {ast.unparse(value)}", text)
        case ast.FunctionDef() if "property" in map(ast.unparse, node.decorator_list):
            returns = "" if node.returns is None else f": {ast.unparse(node.returns)}"
            yield _item(f"{name}{returns}", ast.get_docstring(node))
        case ast.FunctionDef():
            shown = "" if name == "__init__" else name
            yield _item(f"{shown}{_signature(node)}", ast.get_docstring(node))
        case _:  # a class inside of a class
            return


def _documented(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, str | None]]:
    """Each statement that has a name, with the docstring that follows it."""
    for node, following in pairwise([*body, ast.Pass()]):
        if not _name(node):
            continue
        match following:
            case ast.Expr(value=ast.Constant(value=str() as text)):
                yield node, text
            case _:
                yield node, None


def _name(node: ast.stmt) -> str:
    match node:
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            return name
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
        case _:
            return ""


def _signature(node: _Function) -> str:
    arguments = ast.unparse(node.args).removeprefix("self").lstrip(", ")
    arguments = arguments.removesuffix(", /").removeprefix("/, ")
    returns = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
    return f"({arguments}){'' if node.name == '__init__' else returns}"


def _default(value: ast.expr | None) -> str:
    return "" if value is None else f" = {ast.unparse(value)}"


def _item(code: str, text: str | None) -> str:
    paragraphs = _paragraphs(text)
    return f"- `{code}`{': ' if paragraphs else ''}{' '.join(paragraphs)}"


def _prose(text: str | None) -> str:
    return "".join(f"{paragraph}\n\n" for paragraph in _paragraphs(text)).removesuffix("\n")


def _paragraphs(text: str | None) -> Sequence[str]:
    blocks = inspect.cleandoc(text or "").split("\n\n")
    return [" ".join(_lines(block.splitlines())) for block in blocks if block]


def _lines(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield line.strip().replace("Raises:", "Raises")
