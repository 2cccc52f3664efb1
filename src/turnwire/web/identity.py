"""Who is asking: a bearer token to a caller."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import jwt
from msgspec import Struct

from turnwire.errors import Unauthorized

_BEARER = re.compile(rb"[Bb][Ee][Aa][Rr][Ee][Rr] +([\x21-\x7e]+)")
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: JSON can say it, but nothing can be sent that holds it."""


class Caller(Struct, frozen=True):
    """Who is asking. `claims` are the token's; empty where the token is opaque to us."""

    token: str
    user_id: str
    claims: Mapping[str, Any]

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


class JwtIdentity:
    """Signed tokens. The algorithm comes from the settings, never from the token.

    Header fields that name a key (`jku`, `x5u`, `jwk`, `kid`) are not looked at.
    """

    def __init__(
        self, keys: Sequence[str], *, algorithm: str, issuer: str, audience: str, leeway_s: float
    ) -> None:
        self._keys = keys
        self._algorithm = algorithm
        self._issuer = issuer or None
        self._audience = audience or None
        self._leeway_s = leeway_s

    async def identify(self, token: str) -> Caller:
        claims = self._verify(token)
        user_id = claims["sub"]
        if not isinstance(user_id, str) or not user_id or _HALF.search(user_id):
            raise Unauthorized("the token has no subject")
        return Caller(token, user_id, claims)

    def _verify(self, token: str) -> Mapping[str, Any]:
        problem: Exception = Unauthorized("no key")
        for key in self._keys:
            try:
                return jwt.decode(
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
