"""JSON that stands in a text: the input of a call, and often its output."""

import codecs
import contextlib
from collections.abc import Generator
from typing import Final

import msgspec
from msgspec import Raw

from turnwire.core import safe_json

_STEP_BYTES: Final = 262_144
"""Bytes of JSON that are put into a string in one step."""

_NOTHING: Final = frozenset({b"", b"null", b'""'})

_decode = msgspec.json.Decoder(Raw).decode
_encode = msgspec.json.Encoder().encode
_incremental_decoder = codecs.getincrementaldecoder("utf-8")


def parsed(text: str) -> Raw:
    """Return the JSON that a text is; as a JSON string if it is none."""
    text = safe_json.join_surrogates(text)
    return _json(text) or Raw(msgspec.json.encode(text))


def valid(text: str) -> Raw | None:
    """Return the JSON that a text is; None if it is none."""
    return _json(safe_json.join_surrogates(text))


def structured(content: Raw) -> Raw:
    """Return the JSON object or list that a JSON string holds; any other value as it is.

    Some agents encode each output once more, texts among them: of such a text, return the text.
    """
    text = safe_json.string(content)
    if text is None:
        return content or Raw(b"null")
    if text.lstrip().startswith('"') and (inner := valid(text)) is not None:
        content, text = inner, safe_json.string(inner) or ""
    if not text.lstrip().startswith(("{", "[")):
        return content
    return valid(text) or content


def as_string(raw: Raw) -> Generator[bytes, None, Raw]:
    """Return a string as itself, and any other JSON as a string with the JSON in it.

    Works in steps, and yields an empty item after each.
    """
    data = bytes(raw)
    if data.startswith(b'"'):
        return raw
    if len(data) <= _STEP_BYTES:
        return Raw(_encode(data.decode()))
    pieces = [b'"']
    decode = _incremental_decoder().decode
    for begin in range(0, len(data), _STEP_BYTES):
        pieces.append(_encode(decode(data[begin : begin + _STEP_BYTES]))[1:-1])
        yield b""
    pieces.append(b'"')
    return Raw(b"".join(pieces))


def object_as_string(raw: Raw) -> Generator[bytes, None, Raw]:
    """Return a string with a JSON object in it: `raw`, or one that has it as its `input`.

    Works in steps, as `as_string` does.
    """
    data = bytes(raw)
    if data in _NOTHING:
        data = b"{}"
    elif not data.startswith(b"{"):
        data = b'{"input":%b}' % data
    return (yield from as_string(Raw(data)))


def _json(text: str) -> Raw | None:
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        return _decode(text).copy()
    return None
