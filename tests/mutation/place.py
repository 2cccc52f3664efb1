"""Where a node stands in the tree of a module, and what a walk over a function leaves out."""

import ast
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_NO_CODE: Final = {"annotation", "returns", "decorator_list", "args", "type_comment"}
"""Fields of a function or a declaration that say nothing of what it does when it runs."""


class Place(NamedTuple):
    """`holder.field`, or `holder.field[at]`."""

    holder: ast.AST
    field: str
    at: int | None

    @property
    def node(self) -> Any:
        held = getattr(self.holder, self.field)
        return held if self.at is None else held[self.at]

    def put(self, new: ast.AST | None) -> None:
        """Replace the node. None: a statement does nothing, an entry of a list is not there."""
        old = self.node
        if new is None and isinstance(old, ast.stmt):
            new = ast.Pass()
        if new is not None and hasattr(old, "lineno"):
            ast.copy_location(new, old)
        if self.at is None:
            setattr(self.holder, self.field, new)
        elif new is None:
            del getattr(self.holder, self.field)[self.at]
        else:
            getattr(self.holder, self.field)[self.at] = new


def functions(body: list[ast.stmt], within: str = "") -> Iterator[tuple[str, ast.AST]]:
    """The functions of a module and the methods of its classes, with their qualified names."""
    for node in body:
        if isinstance(node, _FUNCTIONS):
            yield f"{within}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node.body, f"{within}{node.name}.")


def places(function: ast.AST) -> Iterator[tuple[Place, frozenset[int]]]:
    """Each node that decides what the function does, with the lines that run when it does."""
    yield from _below(function, frozenset(), in_raise=False)


def _below(
    holder: ast.AST, lines: frozenset[int], *, in_raise: bool
) -> Iterator[tuple[Place, frozenset[int]]]:
    for place in _held(holder):
        node = place.node
        if _says_nothing(node, in_raise=in_raise):
            continue
        its_lines = _lines(node) or lines
        yield place, its_lines
        yield from _below(node, its_lines, in_raise=in_raise or isinstance(node, ast.Raise))


def _held(holder: ast.AST) -> Iterator[Place]:
    for field, value in ast.iter_fields(holder):
        first = 1 if field == "args" and _first_is_a_type(holder) else 0
        if isinstance(holder, (*_FUNCTIONS, ast.AnnAssign)) and field in _NO_CODE:
            continue
        if isinstance(value, ast.AST):
            yield Place(holder, field, None)
        elif isinstance(value, list):
            last = 1 if _asks_for_a_type(holder) and field == "args" else len(value)
            yield from (
                Place(holder, field, at)
                for at in range(first, last)
                if isinstance(value[at], ast.AST)
            )


def _says_nothing(node: ast.AST, *, in_raise: bool) -> bool:
    """Docstrings, invariants, and what mypy alone reads; the words of an exception."""
    match node:
        case ast.Expr(ast.Constant()) | ast.Assert():
            return True
        case ast.Expr(ast.Call(ast.Name("assert_never"))):
            return True
        case ast.match_case(body=[ast.Expr(ast.Call(ast.Name("assert_never")))]):
            return True
        case ast.Constant(str()) | ast.JoinedStr():
            return in_raise
        case ast.expr_context() | ast.operator() | ast.cmpop() | ast.boolop() | ast.unaryop():
            return True
        case _:
            return False


def _first_is_a_type(holder: ast.AST) -> bool:
    return isinstance(holder, ast.Call) and _called(holder) == "cast"


def _asks_for_a_type(holder: ast.AST) -> bool:
    return isinstance(holder, ast.Call) and _called(holder) in {"isinstance", "issubclass"}


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _lines(node: ast.AST) -> frozenset[int]:
    """The lines of a statement without those of the statements in it; of a case, all of it."""
    match node:
        case ast.If(test=head) | ast.While(test=head) | ast.Match(subject=head):
            return frozenset({*_span(node, node.lineno), *_span(head)})
        case ast.For(iter=head) | ast.AsyncFor(iter=head):
            return frozenset({*_span(node, node.lineno), *_span(head)})
        case ast.With() | ast.AsyncWith() | ast.FunctionDef() | ast.AsyncFunctionDef():
            return frozenset(range(node.lineno, node.body[0].lineno + 1))
        case ast.match_case():
            return frozenset(range(node.pattern.lineno, _end(node.body)))
        case ast.ExceptHandler():
            return frozenset(_span(node))
        case ast.Try():
            return frozenset(range(node.lineno, node.body[0].lineno + 1))
        case ast.stmt():
            return frozenset(_span(node))
        case _:
            return frozenset()


def _span(node: Any, last: int | None = None) -> range:
    return range(node.lineno, (last or node.end_lineno) + 1)


def _end(body: list[ast.stmt]) -> int:
    return (body[-1].end_lineno or body[-1].lineno) + 1
