"""The small changes: what may stand in place of a node.

One change at a time, and each a mistake that a person could make. `None` in place of a statement,
a case or an alternative: it is not there.
"""

import ast
import copy
from collections.abc import Iterator
from typing import Any, Final

from mutation.place import Place

_Changed = Iterator[tuple[str, ast.AST | None]]

_COMPARED: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_COUNTED: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
}
_PAIRS: Final = (
    ("all", "any"),
    ("append", "appendleft"),
    ("endswith", "startswith"),
    ("find", "rfind"),
    ("lstrip", "rstrip"),
    ("max", "min"),
    ("partition", "rpartition"),
    ("pop", "popleft"),
    ("removeprefix", "removesuffix"),
)
_OTHERS: Final = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
_DOES_SOMETHING: Final = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom)


def changed(place: Place) -> _Changed:
    """Each operator's name, and what stands there with it."""
    node = place.node
    if _is_condition(place) and not _has_an_opposite(node):
        yield "condition", ast.UnaryOp(ast.Not(), node)
    match node:
        case ast.Compare():
            yield from _compared(node)
        case ast.BoolOp():
            yield from _asked(node)
        case ast.UnaryOp(ast.Not(), operand):
            yield "condition", operand
        case ast.UnaryOp(ast.USub(), operand):
            yield "arithmetic", operand
        case ast.BinOp(left, op, right):
            if _is_text(left) or _is_text(right):
                yield "arithmetic", left
                yield "arithmetic", right
            else:
                yield "arithmetic", ast.BinOp(left, _COUNTED[type(op)](), right)
        case ast.Constant():
            yield from (("constant", ast.Constant(value)) for value in _valued(node.value))
        case ast.Call():
            yield from _called(node, is_statement=isinstance(place.holder, ast.Expr | ast.Await))
        case ast.Slice():
            yield from _sliced(node)
        case ast.comprehension() | ast.For() | ast.AsyncFor():
            yield "loop", _with(node, iter=ast.Tuple([], ast.Load()))
        case ast.ExceptHandler():
            yield "handler", _with(node, body=[ast.Raise()])
        case ast.stmt():
            yield from _stated(place)
        case ast.match_case() | ast.pattern():
            yield from _matched(place)
        case _:
            pass


def _is_condition(place: Place) -> bool:
    if place.field == "test":
        return isinstance(place.holder, ast.If | ast.While | ast.IfExp)
    return place.field in {"ifs", "guard"}


def _has_an_opposite(test: ast.expr) -> bool:
    """Whether another operator makes the opposite of it."""
    match test:
        case ast.Compare(ops=[_]) | ast.UnaryOp(ast.Not()) | ast.Constant():
            return True
        case _:
            return False


def _compared(node: ast.Compare) -> _Changed:
    for at, old in enumerate(node.ops):
        for new in _COMPARED[type(old)]:
            yield "comparison", _with(node, ops=[*node.ops[:at], new(), *node.ops[at + 1 :]])


def _asked(node: ast.BoolOp) -> _Changed:
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "boolean", _with(node, op=other)
    for at in range(len(node.values)):
        left = [*node.values[:at], *node.values[at + 1 :]]
        yield "boolean", left[0] if len(left) == 1 else _with(node, values=left)


def _valued(value: object) -> list[Any]:
    match value:
        case bool():
            return [not value]
        case int():
            return [value + 1] if value == 0 else [value + 1, value - 1]
        case float():
            return [value + 1]
        case str():
            return ["" if value else "mutant"]
        case bytes():
            return [b"" if value else b"mutant"]
        case _:
            return []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )


def _called(node: ast.Call, *, is_statement: bool) -> _Changed:
    match node.func:
        case ast.Name(name) if name in _OTHERS:
            yield "name", _with(node, func=ast.Name(_OTHERS[name], ast.Load()))
        case ast.Attribute(held, name) if name in _OTHERS:
            yield "name", _with(node, func=ast.Attribute(held, _OTHERS[name], ast.Load()))
        case ast.Attribute(held) if not (node.args or node.keywords or is_statement):
            yield "call", held
    has_an_order = not any(isinstance(value, ast.Starred) for value in node.args)
    if has_an_order and _name(node) not in {"max", "min", "isinstance", "issubclass", "cast"}:
        for at, (one, other) in enumerate(zip(node.args, node.args[1:], strict=False)):
            if ast.dump(one) != ast.dump(other):
                swapped = [*node.args[:at], other, one, *node.args[at + 2 :]]
                yield "arguments", _with(node, args=swapped)
    for at, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            left = [*node.keywords[:at], *node.keywords[at + 1 :]]
            yield "arguments", _with(node, keywords=left)


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _sliced(node: ast.Slice) -> _Changed:
    if node.lower is not None:
        yield "slice", _with(node, lower=None)
    if node.upper is not None:
        yield "slice", _with(node, upper=None)


def _stated(place: Place) -> _Changed:
    match place.node:
        case ast.Return(value) as node:
            if value is not None and not isinstance(value, ast.Constant):
                yield "return", ast.Return(ast.Constant(None))
            if not _is_last(place):
                yield "statement", None
        case ast.AugAssign(op=op) as node:
            yield "arithmetic", _with(node, op=_COUNTED[type(op)]())
            yield "statement", None
        case ast.Expr(value) if isinstance(value, _DOES_SOMETHING):
            yield "statement", None
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", None
        case ast.Raise() | ast.Delete() | ast.Break() | ast.Continue():
            yield "statement", None
        case _:
            pass


def _is_last(place: Place) -> bool:
    """Whether without it the function returns None, too."""
    at_the_end = place.at == len(getattr(place.holder, place.field)) - 1
    return at_the_end and isinstance(place.holder, ast.FunctionDef | ast.AsyncFunctionDef)


def _matched(place: Place) -> _Changed:
    match place.node:
        case ast.match_case() as node:
            if len(getattr(place.holder, place.field)) > 1:
                yield "case", None
            if node.guard is not None:
                yield "case", _with(node, guard=None)
        case ast.MatchOr(patterns) as node:
            for at in range(len(patterns)):
                left = [*patterns[:at], *patterns[at + 1 :]]
                yield "case", left[0] if len(left) == 1 else _with(node, patterns=left)
        case _:
            pass


def _with(node: Any, **fields: object) -> Any:
    """A copy with other fields."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new
