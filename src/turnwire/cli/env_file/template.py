"""The text of a new file of settings: what the wire needs, then what operators change most.

Rule: what a setting does is written in its description, and its default in `Settings`. Neither
stands here, so that no new file lags behind them.
"""

import re
import textwrap
import typing
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from turnwire.config import dialect_defaults
from turnwire.config.dialect_loading import find
from turnwire.config.effective import agent_auth, history_keeper, turn_log_place
from turnwire.config.settings import PLACEHOLDER, Settings, variable
from turnwire.core.agent import Dialect
from turnwire.relay.agent.transports import TRANSPORTS

COMMON: Final = (
    *("host", "port", "metrics_port", "agent_auth", "agent_token", "agent_headers", "insecure"),
    *(
        "jwt_issuer",
        "jwt_audience",
        "signing_keys",
        "access",
        "cors_origins",
        "history",
        "turn_log",
    ),
    *("on_disconnect", "grace_s", "idle_s", "turn_s", "drain_s", "max_streams_per_user"),
    *("turns_per_minute", "log_format", "log_level"),
)
"""Fields that the file has as comments, with their defaults."""
NOTES: Final = {
    "signing_keys": " Native approvals need one, and `openssl rand -hex 32` makes one.",
}
"""What a comment says besides the description."""

_WIDTH: Final = 100
_FIRST_SENTENCE: Final = re.compile(r".+?\.(?= |$)")
_FIELDS: Final = {field.name: field for field in msgspec.structs.fields(Settings)}

_HEAD: Final = """\
# Settings of turnwire, for an agent that speaks {wire}.
# A variable of the environment wins over its line here. All settings are listed in
# https://github.com/turnwire/turnwire/blob/main/docs/settings.md
"""
_VALUE: Final = """\
# This is a value to begin with: write yours.
"""
_KEY: Final = """\
# This key was made at random. Who has it can make tokens: keep it secret. If an identity provider
# makes the tokens of your users, write these two lines in its place:
#   TURNWIRE_JWT_ALGORITHM=RS256
#   TURNWIRE_JWT_JWKS_URL=https://id.example/.well-known/jwks.json
"""
_COMMON_HEAD: Final = """\
# These are changed most. Each line has the default: without its first # it is set.
"""


def file_text(wire: str, jwt_key: str) -> str:
    """Return the text of the file. `wire` is a value of `TURNWIRE_DIALECT`.

    Raises:
        BadDialectError: there is no such dialect.

    """
    dialect = find(wire)
    parts = [
        _HEAD.format(wire=wire),
        _required("enabled", "true"),
        _required("dialect", wire),
        _required("agent_url", "", f"# For example: {example_url(wire)}\n"),
        *(
            _required(field, dialect_defaults.NEEDED.get(field, ""), _VALUE)
            for field in needed(dialect)
        ),
        _required("jwt_key", jwt_key, _KEY),
        _COMMON_HEAD,
        *_optional(wire, dialect),
    ]
    return "\n".join(parts)


def needed(dialect: Dialect) -> list[str]:
    """Return the fields that this wire needs beside the URL, in the order of `Settings`."""
    return [field for field in _FIELDS if field in dialect.needs]


def example_url(wire: str) -> str:
    """Return a URL of an agent that speaks this wire, as an example."""
    if wire in dialect_defaults.AGENT_URLS:
        return dialect_defaults.AGENT_URLS[wire]
    scheme = TRANSPORTS[find(wire).transport].scheme
    return f"{scheme.with_tls}://agents.example/{PLACEHOLDER if scheme.needs_session else ''}"


def _required(field: str, value: str, note: str = "") -> str:
    """A setting below its whole description and a note."""
    lines = textwrap.wrap(_description(field), _WIDTH - 2, break_on_hyphens=False)
    comment = "".join(f"# {line}\n" for line in lines)
    return f"{comment}{note}{variable(field)}={value}\n"


def _optional(wire: str, dialect: Dialect) -> Iterator[str]:
    """Each common setting that the wire does not need, as a comment."""
    for field in COMMON:
        if field not in dialect.needs:
            sentence = _FIRST_SENTENCE.match(_description(field))
            assert sentence is not None
            choices = _choices(field)
            one_of = f" One of {', '.join(choices)}." if choices else ""
            default = _default(field, wire, dialect)
            note = NOTES.get(field, "")
            yield f"# {sentence[0]}{one_of}{note}\n#{variable(field)}={default}\n"


def _default(field: str, wire: str, dialect: Dialect) -> str:
    """The default of a field as the value of its variable. That of some depends on the wire."""
    settings = Settings(dialect=wire)
    match field:
        case "agent_auth":
            return agent_auth(settings)
        case "history":
            return history_keeper(settings)
        case "idle_s":
            return f"{dialect.idle_s:g}"
        case "turn_log":
            return turn_log_place(settings)
        case _:
            return _written(getattr(settings, field))


def _written(value: object) -> str:
    """A value as its variable has it."""
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _description(field: str) -> str:
    hint: Any = _FIELDS[field].type
    return next(str(meta.description) for meta in hint.__metadata__ if meta.description)


def _choices(field: str) -> tuple[str, ...]:
    """The words that a setting may be, if it is one of a few."""
    hint: Any = _FIELDS[field].type
    for meta in hint.__metadata__:
        if "table" in (meta.extra or {}):
            return tuple(meta.extra["table"])
    (inner, *_) = typing.get_args(hint)
    kinds = (inner, *typing.get_args(inner))  # of a union with None, the other one has the words
    return next(
        (typing.get_args(kind) for kind in kinds if typing.get_origin(kind) is typing.Literal), ()
    )
