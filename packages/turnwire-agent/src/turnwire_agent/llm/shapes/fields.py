"""Fields of JSON that a server sent: what is missing is empty, a wrong type is an error."""

from typing import Any

import msgspec


class MalformedError(ValueError):
    """A field has a type that its wire does not have. The message is its name, never its value."""


def decoded(data: bytes) -> dict[str, Any]:
    """The object that is in the data of an event."""
    try:
        values = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise MalformedError("JSON") from None
    if not isinstance(values, dict):
        raise MalformedError("object")
    return values


def text(values: dict[str, Any], key: str) -> str:
    """A string; empty if it is missing or null."""
    value = values.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MalformedError(key)
    return value


def fields(values: dict[str, Any], key: str) -> dict[str, Any]:
    """An object; empty if it is missing or null."""
    value = values.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise MalformedError(key)
    return value


def items(values: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of objects; empty if it is missing or null."""
    value = values.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise MalformedError(key)
    for each in value:
        if not isinstance(each, dict):
            raise MalformedError(key)
    return value


def count(values: dict[str, Any], key: str) -> int | None:
    """A count; None if it is missing, null or negative."""
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise MalformedError(key)
    return value if value >= 0 else None
