"""Faults in the middle of a function: small changes to its code, said by its structure.

    without(ast.Break)                        # its first `break` is not there
    without(ast.Starred, 2)                   # its second `*` is not there, with what it unpacks
    decided(ast.If, outcome=False, nth=-1)    # its last `if` is never entered
    unasked(3, nth=2)                         # its second `and` or `or` lacks its third term
    instead(ast.Compare, "True")              # its first comparison always holds
    constant("exp", "sub")                    # its first "exp" is "sub"

Each stands where a `Fault` has its `becomes`. Code is counted as it is read: from 1, or from the
end with -1; docstring and parameters do not count. No name within the function is said, so that
all can be renamed. Where it has no such structure, the fault cannot be planted.

The changed function has the module, the defaults and the closure of the right one, and so its
`super()`.
"""

import ast
import functools
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Final, TypeVar

from mutants.fault import Function

Becomes = Callable[[Function], Function]
_Node = TypeVar("_Node", bound=ast.AST)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def without(kind: type[ast.AST], nth: int = 1) -> Becomes:
    """A statement is not there, or one of a list."""
    return edited(kind, lambda node: ast.Pass() if isinstance(node, ast.stmt) else None, nth)


def decided(kind: type[ast.If | ast.IfExp], *, outcome: bool, nth: int = 1) -> Becomes:
    """An `if` does not look at its condition."""

    def blind(node: ast.If | ast.IfExp) -> ast.AST:
        node.test = ast.Constant(outcome)
        return node

    return edited(kind, blind, nth)


def unasked(term: int, nth: int = 1) -> Becomes:
    """An `and` or `or` lacks one of its terms."""

    def shorter(node: ast.BoolOp) -> ast.AST:
        if len(node.values) < term:
            raise LookupError(f"there is no {term}. term in {ast.unparse(node)}")
        del node.values[term - 1]
        return node if len(node.values) > 1 else node.values[0]

    return edited(ast.BoolOp, shorter, nth)


def instead(kind: type[ast.AST], source: str, nth: int = 1) -> Becomes:
    """A statement, or an expression, is another one."""
    mode = "exec" if issubclass(kind, ast.stmt) else "eval"

    def other(_: ast.AST) -> ast.AST:
        match ast.parse(source, mode=mode):
            case ast.Module([statement]):
                return statement
            case ast.Expression(expression):
                return expression
            case _:
                raise LookupError(f"{source} is not one {kind.__name__}")

    return edited(kind, other, nth)


def constant(right: str | int, wrong: str | int) -> Becomes:
    """A constant has another value."""

    def is_meant(node: ast.Constant) -> bool:
        return type(node.value) is type(right) and node.value == right

    return edited(ast.Constant, lambda _: ast.Constant(wrong), is_meant=is_meant)


def edited(
    kind: type[_Node],
    becomes: Callable[[_Node], ast.AST | None],
    nth: int = 1,
    *,
    is_meant: Callable[[_Node], bool] = lambda _: True,
) -> Becomes:
    """`becomes(node)` is in place of the n-th node of a kind; None: nothing is."""

    def edit(right: Function) -> Function:
        tree = _tree(right.__code__)
        body = tree.body if ast.get_docstring(tree) is None else tree.body[1:]
        nodes = [node for statement in body for node in ast.walk(statement)]
        nodes.sort(key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        meant = [node for node in nodes if isinstance(node, kind) and is_meant(node)]
        try:
            chosen = meant[nth - 1 if nth > 0 else nth]
        except IndexError:
            raise LookupError(f"{right.__qualname__} has no {nth}. {kind.__name__}") from None
        _Exchange(chosen, becomes(chosen)).visit(tree)
        return _compiled(tree, right)

    return edit


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST | None) -> None:
        self._old = old
        self._new = None if new is None else ast.copy_location(new, old)

    def visit(self, node: ast.AST) -> Any:
        return self._new if node is self._old else self.generic_visit(node)


def _tree(code: CodeType) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The function as its file has it."""
    for node in ast.walk(ast.parse(Path(code.co_filename).read_bytes())):
        if isinstance(node, _FUNCTIONS) and node.name == code.co_name:
            first = min(inner.lineno for inner in (node, *node.decorator_list))
            if first == code.co_firstlineno:
                return node
    raise LookupError(f"{code.co_qualname} is not in {code.co_filename}")


def _compiled(tree: ast.FunctionDef | ast.AsyncFunctionDef, right: Function) -> Function:
    """Compile it within a function that has the names of its closure, which never runs."""
    code: CodeType = right.__code__
    cells = dict(zip(code.co_freevars, right.__closure__ or (), strict=True))
    module = ast.parse(f"def around({', '.join(cells)}): pass")
    around = module.body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body, tree.decorator_list = [tree], []
    new = compile(ast.fix_missing_locations(module), code.co_filename, "exec", dont_inherit=True)
    for name in (around.name, tree.name):
        new = next(
            inner
            for inner in new.co_consts
            if isinstance(inner, CodeType) and inner.co_name == name
        )
    closure = tuple(cells[name] for name in new.co_freevars)
    wrong = FunctionType(
        new, right.__globals__, right.__name__, right.__defaults__, closure or None
    )
    wrong.__kwdefaults__ = right.__kwdefaults__
    functools.update_wrapper(wrong, right)
    del wrong.__wrapped__  # type: ignore[attr-defined]
    return wrong
