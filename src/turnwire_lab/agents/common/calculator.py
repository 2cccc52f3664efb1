"""The calculator: arithmetic by walking the syntax tree, never by evaluating code.

Every number stays small enough that no prompt can keep the agent busy.
"""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Final

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.tool import ToolFailed

Number = int | float

MAX_CHARACTERS: Final = 200
MAX_EXPONENT: Final = 1000
MAX_DIGITS: Final = 300
EXACT_IN_JSON: Final = 2**53
"""Above this a reader in JavaScript would round, so larger integers travel as text."""

_BINARY: Final[Mapping[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: Final[Mapping[type[ast.unaryop], Callable[[Number], Number]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculate(args: Json) -> Json:
    expression = str(args.get("expression", "")).strip()
    if len(expression) > MAX_CHARACTERS:
        raise ToolFailed(f"An expression has at most {MAX_CHARACTERS} characters.")
    try:
        value = _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ToolFailed(f"I cannot read {expression!r} as arithmetic.") from None
    except ZeroDivisionError:
        raise ToolFailed("Division by zero.") from None
    except OverflowError:
        raise ToolFailed("The result is too large.") from None
    return {"expression": expression, "value": _written(value)}


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=bool()):
            raise ToolFailed("Only numbers, please.")
        case ast.Constant(value=int() | float() as number):
            return _bounded(number)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            a, b = _value(left), _value(right)
            if isinstance(op, ast.Pow) and abs(b) > MAX_EXPONENT:
                raise OverflowError
            return _bounded(_BINARY[type(op)](a, b))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand))
        case _:
            raise ToolFailed("I know numbers, + - * / // % ** and brackets; nothing else.")


def _bounded(number: Number) -> Number:
    if isinstance(number, complex):  # a negative number to the power of a fraction
        raise ToolFailed("The result is not a real number.")
    if not math.isfinite(number) or abs(number) >= 10**MAX_DIGITS:
        raise OverflowError
    return number


def _written(number: Number) -> Number | str:
    if isinstance(number, float):
        return int(number) if number.is_integer() and abs(number) < EXACT_IN_JSON else number
    return number if abs(number) < EXACT_IN_JSON else str(number)
