"""What the tools of the examples do: the same for every framework, and nothing to the machine."""

import operator
import re
from typing import Final

_OPERATIONS: Final = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def calculate(expression: str) -> str:
    """Work out an expression of two numbers, such as `12*7`.

    Raises:
        ZeroDivisionError: it divides by zero.

    """
    left, sign, right = re.split(r"\s*([*/+-])\s*", expression, maxsplit=1)
    return f"{expression} is {_OPERATIONS[sign](float(left), float(right)):g}"


def tell_time(city: str) -> str:
    """The time in a city, where it is always noon."""
    return f"it is 12:00 in {city}"


def delete(path: str) -> str:
    """Pretend to delete a file."""
    return f"{path} is deleted"
