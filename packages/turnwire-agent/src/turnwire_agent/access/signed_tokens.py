"""Tokens that an issuer signed for its users (JWT), as a gateway forwards them.

The gateway verified the token, but whoever else reaches this server did not ask the gateway. It is
verified here by the same rules, with public keys alone: the extra `tokens`.
"""

import base64
import re
from collections.abc import Mapping
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire_agent.access.access import Caller
from turnwire_agent.access.key_set import KeySet
from turnwire_agent.access.public_keys import (
    ALGORITHMS,
    BadTokenError,
    OtherKeyError,
    Terms,
)
from turnwire_agent.access.refusal import Refusal, RefusedError

LEEWAY_S_MAX: Final = 300.0
TOKEN_CHARS: Final = 16 * 1024

_CHALLENGE: Final = {"www-authenticate": 'Bearer error="invalid_token"'}
_FAR: Final = 2**40
"""Seconds that no clock of ours reaches. A token may name any number."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
"""Half of a pair, which JSON can hold and UTF-8 cannot."""


def _bad(why: str) -> Refusal:
    return Refusal(HTTPStatus.UNAUTHORIZED, f"The bearer token {why}.", _CHALLENGE)


NOT_SIGNED: Final = _bad("is no signed token")
WRONG_ALGORITHM: Final = _bad(f"is not signed with {', '.join(ALGORITHMS)}")
UNKNOWN_KEY: Final = _bad("is signed with an unknown key")
NO_SUBJECT: Final = _bad("names no user")
NOT_GOOD: Final = _bad("is not good")
NO_KEYS: Final = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "The server has no keys to verify tokens with."
)
WHY: Final[Mapping[str, Refusal]] = MappingProxyType(
    {
        "ExpiredSignatureError": _bad("has expired"),
        "ImmatureSignatureError": _bad("is not valid yet"),
        "InvalidIssuerError": _bad("is of another issuer"),
        "InvalidAudienceError": _bad("is for another audience"),
        "MissingRequiredClaimError": _bad("lacks a claim"),
    }
)
"""By the word for why. Any other is `NOT_GOOD`."""


class _Header(Struct):
    """What is read of a token before its signature is verified. None of it is trusted."""

    alg: str
    kid: str | None = None
    crit: Raw | UnsetType = UNSET


_header_decoder = msgspec.json.Decoder(_Header)


class SignedTokens:
    """Verifies tokens by the key set of their issuer.

    A token says which key signed it, and nothing else about how it is verified: header fields with
    a key or its URL (`jwk`, `jku`, `x5c`, `x5u`) are not read.

    Raises:
        ValueError: The clocks are to be further apart than `LEEWAY_S_MAX`.
    """

    def __init__(self, keys: KeySet, terms: Terms) -> None:
        if not 0 <= terms.leeway_s <= LEEWAY_S_MAX:
            raise ValueError(f"clocks are 0 to {LEEWAY_S_MAX:g} s apart")
        self._keys = keys
        self._terms = terms

    async def caller(self, token: str) -> Caller:
        """The user whom a token is for.

        Raises:
            RefusedError: It is not good, or there are no keys.
        """
        header = _header(token)
        keys = await self._keys.keys_for(header.kid)
        if not keys and self._keys.failed:
            raise RefusedError(NO_KEYS)
        for key in keys:
            if key.algorithm == header.alg:
                try:
                    claims = key.claims(token, self._terms)
                    expires_at = min(int(claims["exp"]), _FAR) + self._terms.leeway_s
                    return Caller(_subject(claims), expires_at)
                except OtherKeyError:
                    continue
                except BadTokenError as error:
                    raise RefusedError(WHY.get(str(error), NOT_GOOD)) from None
        raise RefusedError(UNKNOWN_KEY)


def _header(token: str) -> _Header:
    try:
        if len(token) > TOKEN_CHARS:
            raise RefusedError(NOT_SIGNED)
        header = _header_decoder.decode(base64.urlsafe_b64decode(token.partition(".")[0] + "=="))
    except (ValueError, RecursionError):
        raise RefusedError(NOT_SIGNED) from None
    if header.alg not in ALGORITHMS:
        raise RefusedError(WRONG_ALGORITHM)
    if header.crit is not UNSET:  # no extension is known here, so none may be critical
        raise RefusedError(NOT_SIGNED)
    return header


def _subject(claims: Mapping[str, Any]) -> str:
    subject = claims["sub"]
    if not isinstance(subject, str) or not subject or _SURROGATE.search(subject):
        raise RefusedError(NO_SUBJECT)
    return subject
