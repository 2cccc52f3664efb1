"""JSON that stands in a text: the input of a call, and often its output."""

import contextlib

import msgspec
from msgspec import Raw

from turnwire.core import safe_json

_decode = msgspec.json.Decoder(Raw).decode


def parsed(text: str) -> Raw:
    """Return the JSON that a text is; as a JSON string if it is none."""
    text = safe_json.join_surrogates(text)
    return _json(text) or Raw(msgspec.json.encode(text))


def valid(text: str) -> Raw | None:
    """Return the JSON that a text is; None if it is none."""
    return _json(safe_json.join_surrogates(text))


def structured(content: Raw) -> Raw:
    """Return the JSON object or list that a JSON string holds; any other value as it is.

    A stream and a history both use it, so that they show the same output of a call.
    """
    text = safe_json.string(content)
    if text is None or not text.lstrip().startswith(("{", "[")):
        return content or Raw(b"null")
    return _json(safe_json.join_surrogates(text)) or content


def _json(text: str) -> Raw | None:
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        return _decode(text).copy()
    return None
