"""Headers for the agent: who asks, and the operator's own (`TURNWIRE_AGENT_HEADERS`)."""

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import msgspec

from turnwire.config.effective import agent_auth
from turnwire.config.settings import Settings
from turnwire.core.connect import is_reserved

CHARACTERS_MAX: Final = 8_192
"""Longest value of the setting: servers refuse longer heads."""

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE: Final = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")
_UNCHANGED: Final = "@.:|/+-_~"
_PLAIN: Final = re.compile(r"[A-Za-z0-9@.:|/+_~-]*")
_OF_THE_WIRE: Final = frozenset({"content-type", "content-encoding"})
"""Headers of the body, which the dialect writes."""

_NONE: Final[Mapping[str, str]] = MappingProxyType({})


class BadHeadersError(ValueError):
    """The setting is not such headers. The message has no value of it: they are secrets."""


def agent_headers(settings: Settings) -> Mapping[str, str]:
    """Return the headers, with names in lower case.

    Raises:
        BadHeadersError: the setting is not such headers.

    """
    return _parsed(settings.agent_headers) if settings.agent_headers else _NONE


def identity_headers(settings: Settings, token: str, user_id: str) -> dict[str, str]:
    """Return the headers that say who asks. `token` is the user's own."""
    match agent_auth(settings):
        case "forward":
            return {"authorization": f"Bearer {token}"}
        case "service":
            headers = {"authorization": f"Bearer {settings.agent_token}"}
        case "none":
            headers = {}
    # A header cannot carry every user id as it is. Most have nothing to encode.
    is_plain = _PLAIN.fullmatch(user_id) is not None
    headers["x-turnwire-user"] = user_id if is_plain else quote(user_id, safe=_UNCHANGED)
    return headers


@functools.lru_cache(maxsize=8)
def _parsed(text: str) -> Mapping[str, str]:
    if len(text) > CHARACTERS_MAX:
        raise BadHeadersError(f"must have {CHARACTERS_MAX} characters at most")
    try:
        given = msgspec.json.decode(text.encode(), type=dict[str, str])
    except (msgspec.DecodeError, UnicodeEncodeError):
        raise BadHeadersError(
            'must be a JSON object of names and values, like {"x-api-key": "..."}'
        ) from None
    headers = {name.lower(): value for name, value in given.items()}
    for name, value in headers.items():
        if _NAME.fullmatch(name) is None:
            raise BadHeadersError(f"{name!r} is no name of a header")
        if is_reserved(name) or name in _OF_THE_WIRE:
            raise BadHeadersError(f"the gateway sets {name!r} itself")
        if _VALUE.fullmatch(value) is None:
            raise BadHeadersError(f"the value of {name!r} must be visible ASCII, or spaces within")
    if len(headers) < len(given):
        raise BadHeadersError("a name is there twice, in upper and lower case")
    return MappingProxyType(headers)
