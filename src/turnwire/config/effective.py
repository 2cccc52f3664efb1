"""What settings are in the end whose default depends on the dialect, or that are texts of JSON."""

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Raw

from turnwire.config import dialect_defaults
from turnwire.config.dialect_defaults import Auth, Keeper
from turnwire.config.settings import PLACEHOLDER, Settings

_NO_FIELDS: Final[Mapping[str, Raw]] = MappingProxyType({})


class BadFieldsError(ValueError):
    """The setting is no JSON object. The message has no value of it: it may hold secrets."""


def agent_auth(settings: Settings) -> Auth:
    """Return what the gateway sends to the agent in `Authorization`."""
    return settings.agent_auth or "forward"


def history_keeper(settings: Settings) -> Keeper:
    """Return who keeps the conversation."""
    return settings.history or dialect_defaults.keeper(settings.dialect)


def turn_log_place(settings: Settings) -> str:
    """Return where turns are kept: `off`, `memory`, or the URL of a Redis."""
    return settings.turn_log or dialect_defaults.turn_log(settings.dialect)


def agent_request(settings: Settings) -> Mapping[str, Raw]:
    """Return the fields that the operator adds to each request (`TURNWIRE_AGENT_REQUEST`).

    Raises:
        BadFieldsError: the setting is no JSON object.

    """
    return _fields(settings.agent_request) if settings.agent_request else _NO_FIELDS


@lru_cache(maxsize=8)
def _fields(text: str) -> Mapping[str, Raw]:
    try:
        msgspec.json.decode(text.encode())  # with all values, which `Raw` would not check
        fields = msgspec.json.decode(text.encode(), type=dict[str, Raw])
    except (msgspec.DecodeError, RecursionError):
        raise BadFieldsError('must be a JSON object of fields, like {"temperature": 0.2}') from None
    return MappingProxyType({name: value.copy() for name, value in fields.items()})


def session_url(settings: Settings, session_id: str, path: str = "") -> str:
    """Return the agent's URL for a session, with `path` at its end. Its query stays behind it."""
    url = settings.agent_url.replace(PLACEHOLDER, _segment(session_id))
    location, mark, query = url.partition("?")
    if not path or location.removesuffix("/").endswith(path):  # the operator wrote the whole of it
        return url
    return f"{location.removesuffix('/')}{path}{mark}{query}"


@lru_cache(maxsize=1024)
def _segment(session_id: str) -> str:
    return quote(session_id, safe=":")
