"""Arguments that people are not shown."""

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec import Raw

HIDDEN: Final = "(hidden)"
"""In the place of a secret argument."""

_HIDDEN: Final = Raw(msgspec.json.encode(HIDDEN))
_decode_fields: Final = msgspec.json.Decoder(dict[str, Raw]).decode

Secrets = Callable[[str], frozenset[str]]
"""The names of the secret arguments of a tool, by the name of the tool."""


def no_secrets(_tool: str) -> frozenset[str]:
    """No tool has secret arguments."""
    return frozenset()


def shown_input(call_input: Raw, secret: frozenset[str]) -> Raw:
    """The input of a call for people. One that is no object is secret as a whole."""
    if not secret:
        return call_input
    try:
        arguments = _decode_fields(call_input)
    except (msgspec.DecodeError, RecursionError):
        return _HIDDEN
    shown = {name: _HIDDEN if name in secret else value for name, value in arguments.items()}
    return Raw(msgspec.json.encode(shown))
