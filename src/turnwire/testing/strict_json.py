"""JSON as a client in JavaScript reads it."""

import json
from typing import Any, Final


def _number(digits: str) -> int | float:
    """JavaScript has only doubles, so that 2**53 + 1 is 2**53, and a long number is infinite."""
    number = float(digits)
    return int(number) if number.is_integer() else number


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


_DECODER: Final = json.JSONDecoder(parse_int=_number, parse_constant=_refuse)


def read_json(text: str | bytes) -> Any:
    """Read as JavaScript does."""
    return _DECODER.decode(text if isinstance(text, str) else text.decode())
