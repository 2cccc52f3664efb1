"""A request's body as bytes."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def written(body: Mapping[str, Any]) -> bytes:
    """JSON of a body. `msgspec.Raw` in it goes out byte for byte.

    Half of a surrogate pair, which is no character, becomes U+FFFD: no provider takes it, and the
    rest of the conversation must go on.
    """
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        return msgspec.json.encode(_clean(body))


def _clean(value: object) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_clean(key): _clean(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(each) for each in value]
    return value
