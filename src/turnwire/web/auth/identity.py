"""Authentication: from a bearer token to a caller.

`Identity` is the port. `JwtIdentity` verifies signed tokens; `OpaqueIdentity` leaves the check to
the control plane. `bearer_token` reads the token from the request's headers.
"""

import base64
import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import jwt
import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.config.keys import Algorithm, Key
from turnwire.errors import Unauthorized
from turnwire.web.auth.token_cache import VerifiedToken, VerifiedTokens

_BEARER = re.compile(rb"[Bb][Ee][Aa][Rr][Ee][Rr] +([\x21-\x7e]+)")
_SURROGATE = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: JSON can hold one, but text with one cannot be encoded as UTF-8."""

_EXP_MAX: Final = 2**53
"""Upper bound of `exp`, so that it stays a number that a float holds exactly."""


class _Header(Struct):
    """The header fields that are read before the signature is verified. None of them is trusted."""

    alg: str
    kid: str | None = None
    crit: Raw | UnsetType = UNSET


_header_decoder = msgspec.json.Decoder(_Header)


class Caller(Struct, frozen=True):
    """The user of a request. `claims` are those of the token; empty if the token is opaque."""

    token: str
    user_id: str | None
    """None if only the control plane knows the user."""
    claims: Mapping[str, Any]
    expires_at: float = math.inf
    """When the token stops being accepted, in seconds of the epoch; infinite if that is unknown."""

    def __repr__(self) -> str:
        return f"Caller(user_id={self.user_id!r})"


class Identity(Protocol):
    """Finds the caller that a token belongs to."""

    async def identify(self, token: str, /) -> Caller:
        """The caller that the token belongs to.

        Raises:
            Unauthorized: the token is not valid.

        """
        ...


class KeySource(Protocol):
    """Holds the keys that may have signed a token."""

    async def keys_for(self, key_id: str | None, /) -> Sequence[Key]:
        """The keys to try for a token whose header has this key id, or none if it is None.

        Raises:
            Unauthorized: there is no such key.
            Unavailable: the keys cannot be fetched now.

        """
        ...


class StaticKeys:
    """The keys of the settings. All are tried, in order, for each token; key ids are ignored."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._keys = keys

    async def keys_for(self, _key_id: str | None) -> Sequence[Key]:
        return self._keys


class JwtIdentity:
    """Verifies signed tokens (JWT). The algorithm comes from the settings, never from the token.

    Header fields that hold a key or its URL (`jku`, `x5u`, `jwk`, `x5c`) are ignored. A token with
    a `crit` field is rejected, since no extension is implemented.
    """

    def __init__(
        self, keys: KeySource, *, algorithm: Algorithm, issuer: str, audience: str, leeway_s: float
    ) -> None:
        self._keys = keys
        self._algorithm = algorithm
        self._issuer = issuer or None
        self._audience = audience or None
        self._leeway_s = leeway_s
        self._verified_tokens = VerifiedTokens()

    async def identify(self, token: str) -> Caller:
        verified = self._verified_tokens.get(token)
        if verified is None or not verified.is_valid(
            await self._keys.keys_for(verified.key_id), time.time()
        ):
            key_id = self._key_id(token)
            verified = self._verify(token, key_id, await self._keys.keys_for(key_id))
            self._verified_tokens.put(token, verified)
        return Caller(token, verified.user_id, verified.claims, verified.expires_at)

    def _key_id(self, token: str) -> str | None:
        """The key id in the token's header, after a check of the other header fields."""
        try:
            header = _header_decoder.decode(
                base64.urlsafe_b64decode(token.partition(".")[0] + "==")
            )
        except (ValueError, RecursionError) as exc:
            raise Unauthorized("no token whose own header can be read") from exc
        if header.alg != self._algorithm:
            raise Unauthorized("another algorithm than the configured one")
        if header.crit is not UNSET:
            raise Unauthorized("critical header fields")
        return header.kid

    def _verify(self, token: str, key_id: str | None, keys: Sequence[Key]) -> VerifiedToken:
        key, claims = self._decode(token, keys)
        user_id = claims["sub"]
        if not isinstance(user_id, str) or not user_id or _SURROGATE.search(user_id):
            raise Unauthorized("the token has no subject")
        return VerifiedToken(
            user_id,
            claims,
            key_id,
            key,
            # At least the epoch: an absurd negative number must not break the arithmetic.
            starts_at=max(0, *(int(claims.get(claim, 0)) for claim in ("iat", "nbf")))
            - self._leeway_s,
            expires_at=min(int(claims["exp"]), _EXP_MAX) + self._leeway_s,
        )

    def _decode(self, token: str, keys: Sequence[Key]) -> tuple[Key, Mapping[str, Any]]:
        problem: Exception | None = None
        for key in keys:
            try:
                return key, jwt.decode(
                    token,
                    key,
                    algorithms=[self._algorithm],
                    issuer=self._issuer,
                    audience=self._audience,
                    leeway=self._leeway_s,
                    options={"require": ["exp", "sub"], "verify_aud": self._audience is not None},
                )
            except jwt.InvalidSignatureError as exc:
                problem = exc  # another key may have signed it
            except jwt.PyJWTError as exc:
                raise Unauthorized(type(exc).__name__) from exc
        raise Unauthorized("no key fits the signature") from problem


class OpaqueIdentity:
    """Accepts any token without reading it. The control plane decides whether it is valid."""

    async def identify(self, token: str) -> Caller:
        return Caller(token, None, {})


def bearer_token(authorization: Sequence[bytes]) -> str:
    """The token in the request's `Authorization` headers.

    Raises:
        Unauthorized: there is not exactly one such header, or it holds no bearer token.

    """
    if len(authorization) != 1:
        raise Unauthorized("not exactly one Authorization header")
    match = _BEARER.fullmatch(authorization[0].strip())
    if match is None:
        raise Unauthorized("not a bearer token")
    return match[1].decode()
