"""Who is asking: a bearer token to a caller."""

import base64
import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import jwt
import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire.errors import Unauthorized
from turnwire.keys import Algorithm, Key
from turnwire.web.verified import Verified, VerifiedTokens

_BEARER = re.compile(rb"[Bb][Ee][Aa][Rr][Ee][Rr] +([\x21-\x7e]+)")
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: JSON can say it, but nothing can be sent that holds it."""

_LATEST: Final = 2**53
"""Of `exp`: no number that a float cannot hold. Then the sun is cold."""


class _Header(Struct):
    """What we look at in a token's header before its signature: nothing that is believed."""

    alg: str
    kid: str | None = None
    crit: Raw | UnsetType = UNSET


_header = msgspec.json.Decoder(_Header)


class Caller(Struct, frozen=True):
    """Who is asking. `claims` are the token's; empty where the token is opaque to us."""

    token: str
    user_id: str | None
    """None where only the control plane knows."""
    claims: Mapping[str, Any]
    expires_at: float = math.inf
    """Until when the token is taken, in seconds of the epoch, where that is known."""

    def __repr__(self) -> str:
        return f"Caller(user_id={self.user_id!r})"


class Identity(Protocol):
    """Tells who a token belongs to."""

    async def identify(self, token: str, /) -> Caller:
        """Tell whose token this is.

        Raises:
            Unauthorized: nobody's.

        """
        ...


class KeySource(Protocol):
    """Where the keys are that tokens may be signed with."""

    async def fitting(self, key_id: str | None, /) -> Sequence[Key]:
        """The keys that a token may be signed with that names this one, or none.

        Raises:
            Unauthorized: no key.
            Unavailable: it cannot be told now.

        """
        ...


class StaticKeys:
    """Keys out of the settings: tried one after the other, whatever a token calls its own."""

    def __init__(self, keys: Sequence[Key]) -> None:
        self._keys = keys

    async def fitting(self, _key_id: str | None) -> Sequence[Key]:
        return self._keys


class JwtIdentity:
    """Signed tokens. The algorithm comes from the settings, never from the token.

    Header fields that bring a key along, or say where one is (`jku`, `x5u`, `jwk`, `x5c`), are
    not looked at; a `crit` field is refused, since we know no extension that might matter.
    """

    def __init__(
        self, keys: KeySource, *, algorithm: Algorithm, issuer: str, audience: str, leeway_s: float
    ) -> None:
        self._keys = keys
        self._algorithm = algorithm
        self._issuer = issuer or None
        self._audience = audience or None
        self._leeway_s = leeway_s
        self._known = VerifiedTokens()

    async def identify(self, token: str) -> Caller:
        known = self._known.get(token)
        if known is None or not known.holds(await self._keys.fitting(known.key_id), time.time()):
            key_id = self._key_id(token)
            known = self._verified(token, key_id, await self._keys.fitting(key_id))
            self._known.put(token, known)
        return Caller(token, known.user_id, known.claims, known.expires_at)

    def _key_id(self, token: str) -> str | None:
        """The key that the token names, if all else in its header is as it must be."""
        try:
            header = _header.decode(base64.urlsafe_b64decode(token.partition(".")[0] + "=="))
        except (ValueError, RecursionError) as exc:
            raise Unauthorized("no token whose own header can be read") from exc
        if header.alg != self._algorithm:
            raise Unauthorized("another algorithm than the configured one")
        if header.crit is not UNSET:
            raise Unauthorized("critical header fields")
        return header.kid

    def _verified(self, token: str, key_id: str | None, keys: Sequence[Key]) -> Verified:
        key, claims = self._claims(token, keys)
        user_id = claims["sub"]
        if not isinstance(user_id, str) or not user_id or _HALF.search(user_id):
            raise Unauthorized("the token has no subject")
        return Verified(
            user_id,
            claims,
            key_id,
            key,
            # Not before the epoch: a number that no clock can have has to stay reckonable.
            starts_at=max(0, *(int(claims.get(since, 0)) for since in ("iat", "nbf")))
            - self._leeway_s,
            expires_at=min(int(claims["exp"]), _LATEST) + self._leeway_s,
        )

    def _claims(self, token: str, keys: Sequence[Key]) -> tuple[Key, Mapping[str, Any]]:
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
                problem = exc  # another key may fit
            except jwt.PyJWTError as exc:
                raise Unauthorized(type(exc).__name__) from exc
        raise Unauthorized("no key fits the signature") from problem


class OpaqueIdentity:
    """Tokens that mean nothing here: any one word is taken, and the control plane judges it."""

    async def identify(self, token: str) -> Caller:
        return Caller(token, None, {})


def bearer_token(authorization: Sequence[bytes]) -> str:
    """The token out of the request's `Authorization` headers.

    Raises:
        Unauthorized: there is not exactly one such header, or it is no bearer token.

    """
    if len(authorization) != 1:
        raise Unauthorized("not exactly one Authorization header")
    found = _BEARER.fullmatch(authorization[0].strip())
    if found is None:
        raise Unauthorized("not a bearer token")
    return found[1].decode()
