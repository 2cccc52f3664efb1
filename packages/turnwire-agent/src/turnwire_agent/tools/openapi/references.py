"""References of a document, to places in it alone."""

from typing import Any, Final
from urllib.parse import unquote

from turnwire_agent.tools.openapi.unsupported import UnsupportedError

Json = dict[str, Any]

STEPS_MAX: Final = 32
"""Most references that lead to one another."""


def looked_up(document: Json, reference: object) -> Any:
    """Return the value at `#/…`.

    Raises:
        UnsupportedError: the reference leads out of the document, or to nothing.
    """
    text = str(reference)
    if not (isinstance(reference, str) and text.startswith("#/")):
        raise UnsupportedError("reference", f"`$ref` {text[:80]!a}")
    value: Any = document
    for step in text[2:].split("/"):
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, dict) and key in value:
            value = value[key]
        else:
            raise UnsupportedError("reference", f"`$ref` {text[:80]!a} leads to nothing")
    return value


def resolved(document: Json, value: Any, where: str) -> Json:
    """Return an object, behind the references that stand for it.

    Raises:
        UnsupportedError: they lead nowhere, in a circle, or to something else.
    """
    for _ in range(STEPS_MAX):
        if not isinstance(value, dict):
            raise UnsupportedError("reference", f"{where} is no object")
        if "$ref" not in value:
            return value
        value = looked_up(document, value["$ref"])
    raise UnsupportedError("reference", f"{where} leads in a circle")
