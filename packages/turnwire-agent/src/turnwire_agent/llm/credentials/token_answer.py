"""What a token server answers, as a value."""

import math
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from turnwire_agent.llm.credentials.key_header import usable_key
from turnwire_agent.llm.credentials.port import Failure
from turnwire_agent.llm.credentials.secret import Secret

BYTES_MAX: Final = 256 * 1024
"""A longer answer is not read."""
_LIFETIME_MAX_S: Final = 10 * 365 * 86_400.0
_OF_THE_SETTINGS: Final = frozenset(
    {
        "invalid_client",
        "invalid_request",
        "invalid_scope",
        "invalid_target",
        "unauthorized_client",
        "unsupported_grant_type",
    }
)
"""Error codes that may be shown. Any other word of the server could be an echo of a secret."""
_TRY_LATER: Final = frozenset({408, 425, 429})


class Issued(Struct, frozen=True):
    """A token was given. A refresh token that came with a request is used up, perhaps."""

    access_token: Secret
    refresh_token: Secret | None
    """None: the one that we have stays the right one."""
    lifetime_s: float | None
    """None: the server gives none that can be used. A 401 will show the end."""


class GrantRefused(Struct, frozen=True):
    """This refresh token is worth nothing, and never will be."""


class SettingsRefused(Struct, frozen=True):
    """The server will not answer this request otherwise before somebody changes something."""

    why: str


class Unavailable(Struct, frozen=True):
    """No answer that means anything. Whether a refresh token was used up is not known."""

    why: str
    retry_after_s: float | None = None


class NotSent(Struct, frozen=True):
    """The request was held back: it was too late to send it."""


Answer = Issued | GrantRefused | SettingsRefused | Unavailable


class _Tokens(Struct):
    access_token: Secret
    token_type: str = "Bearer"  # noqa: S105 - it is no password
    refresh_token: Secret | None = None
    expires_in: Any = None


class _Error(Struct):
    error: Annotated[str, Meta(max_length=64)]


def read_answer(status: int, body: bytes, retry_after: str = "") -> Answer:
    """Read an answer of a token server.

    Args:
        status: Of the HTTP response.
        body: All of it.
        retry_after: The header of that name. Only seconds are understood.
    """
    if status == 200:  # noqa: PLR2004
        return _issued(body)
    if status in _TRY_LATER or status >= 500:  # noqa: PLR2004
        return Unavailable(f"answers {status}", _seconds(retry_after))
    try:
        code = _error(body).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        code = ""
    if code == "invalid_grant":
        return GrantRefused()
    if code == "temporarily_unavailable":
        return Unavailable(f"answers {status}", _seconds(retry_after))
    shown = f", {code}" if code in _OF_THE_SETTINGS else ""
    return SettingsRefused(f"answers {status}{shown}")


def _issued(body: bytes) -> Answer:
    try:
        tokens = _read_tokens(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Unavailable("gives a token that cannot be read")
    if tokens.token_type.lower() != "bearer":
        return SettingsRefused("gives no bearer token")
    access_token = usable_key(tokens.access_token.reveal(), "the answer")
    if isinstance(access_token, Failure):
        return Unavailable("gives a token that no header can have")
    return Issued(
        access_token,
        tokens.refresh_token if tokens.refresh_token != Secret("") else None,
        _lifetime_s(tokens.expires_in),
    )


def _secret(wanted: type, found: object) -> Secret:
    if wanted is Secret and isinstance(found, str):
        return Secret(found)
    raise TypeError("A token is a string.")


# Made once: a `Struct` that two threads read for the first time at once ends the process.
_error = msgspec.json.Decoder(_Error).decode
_read_tokens = msgspec.json.Decoder(_Tokens, dec_hook=_secret).decode


def _lifetime_s(expires_in: object) -> float | None:
    """Some servers give the seconds as a string."""
    if isinstance(expires_in, bool) or not isinstance(expires_in, int | float | str):
        return None
    try:
        lifetime_s = float(expires_in)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(lifetime_s) or lifetime_s <= 0:
        return None
    return min(lifetime_s, _LIFETIME_MAX_S)


def _seconds(retry_after: str) -> float | None:
    if not (retry_after.isascii() and retry_after.isdigit()) or len(retry_after) > 6:  # noqa: PLR2004
        return None
    return float(retry_after)
