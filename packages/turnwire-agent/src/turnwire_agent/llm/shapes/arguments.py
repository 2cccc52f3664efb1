"""The arguments of a call as they go back to a model."""

from typing import Final

import msgspec
from msgspec import Raw

from turnwire_agent.llm.shapes.body import written

BROKEN: Final = "INVALID_JSON"
"""Servers that parse what they get refuse the whole conversation for text that is no object. It
goes back under this name."""


def is_object(arguments: str) -> bool:
    """Whether it is the JSON text of an object."""
    try:
        msgspec.json.decode(arguments, type=dict[str, Raw])
    except (ValueError, RecursionError):
        return False
    return True


def sendable(arguments: str) -> str:
    """The JSON text of an object: what the model wrote, or an object that has it as text."""
    if not arguments.strip():
        return "{}"
    return arguments if is_object(arguments) else written({BROKEN: arguments}).decode()
