"""JSON as a client in JavaScript reads it."""

import json
from typing import Any


def read_json(text: str | bytes) -> Any:
    """Read as JavaScript does: it has only doubles, so that 2**53 + 1 is 2**53."""
    return json.loads(text, parse_int=lambda digits: int(float(digits)), parse_constant=_refuse)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
