"""The public keys of a key set (JWKS), and what each of them verifies.

It needs the packages `pyjwt` and `cryptography`, which are the extra `tokens`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, get_args

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

try:
    import jwt
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
except ImportError:
    raise ImportError(
        "signed tokens are verified with pip install 'turnwire-agent[tokens]'"
    ) from None

Algorithm = Literal["RS256", "ES256", "EdDSA"]
"""Each has a private key and a public one. With a shared key (`HS256`), who verifies could sign."""

ALGORITHMS: Final[tuple[Algorithm, ...]] = get_args(Algorithm)
KEYS_MAX: Final = 100
RSA_BITS: Final = range(2048, 16_384 + 1)

_FORMS: Final[dict[tuple[str, str | None], tuple[Algorithm, tuple[str, ...]]]] = {
    ("RSA", None): ("RS256", ("n", "e")),
    ("EC", "P-256"): ("ES256", ("crv", "x", "y")),
    ("OKP", "Ed25519"): ("EdDSA", ("crv", "x")),
}
"""For a type and a curve: the one algorithm, and the fields of the public part."""


class NoKeySetError(Exception):
    """There is no key set. The text says why in fixed words."""


class Terms(Struct, frozen=True):
    """What a token must say beside having a good signature. Empty: any."""

    issuer: str
    audience: str
    leeway_s: float
    """How far the issuer's clock may be from ours, in seconds."""


class OtherKeyError(Exception):
    """Another key signed the token."""


class BadTokenError(Exception):
    """The key signed a token that is not good. The text is a word for why."""


class PublicKey(Struct, frozen=True):
    """A key, for one algorithm alone: a token does not choose."""

    key_id: str | None
    algorithm: Algorithm
    key: Any

    def claims(self, token: str, terms: Terms) -> Mapping[str, Any]:
        """The claims of a token that this key signed.

        Raises:
            OtherKeyError: It did not.
            BadTokenError: The token is over, not begun, for others, or lacks a claim.
        """
        try:
            return jwt.decode(
                token,
                self.key,
                algorithms=[self.algorithm],
                issuer=terms.issuer or None,
                audience=terms.audience or None,
                leeway=terms.leeway_s,
                options={"require": ["exp", "sub"], "verify_aud": bool(terms.audience)},
            )
        except jwt.InvalidSignatureError:
            raise OtherKeyError from None
        except (jwt.PyJWTError, ValueError, OverflowError, TypeError, RecursionError) as error:
            raise BadTokenError(type(error).__name__) from None


class _Set(Struct):
    keys: list[Raw]


class _Jwk(Struct):
    kty: str
    kid: str | None = None
    use: str | None = None
    key_ops: list[str] | None = None
    alg: str | None = None
    crv: str | None = None
    n: str = ""
    e: str = ""
    x: str = ""
    y: str = ""
    d: Raw | UnsetType = UNSET


_set_decoder = msgspec.json.Decoder(_Set)
_jwk_decoder = msgspec.json.Decoder(_Jwk)


def public_keys(body: bytes) -> Sequence[PublicKey]:
    """The keys of a key set that may verify tokens. Any other key in it is left out.

    Raises:
        NoKeySetError: It is no key set, too large a one, or one without such a key.
    """
    try:
        keys = _set_decoder.decode(body).keys
    except (ValueError, RecursionError):
        raise NoKeySetError("it is no key set") from None
    if len(keys) > KEYS_MAX:
        raise NoKeySetError(f"it has more than {KEYS_MAX} keys")
    usable = [key for raw in keys if (key := _public_key(raw)) is not None]
    if not usable:
        raise NoKeySetError("it has no key that verifies tokens")
    return usable


def _public_key(raw: Raw) -> PublicKey | None:
    try:
        jwk = _jwk_decoder.decode(raw)
        algorithm, fields = _FORMS[jwk.kty, jwk.crv]
        if not _may_verify(jwk, algorithm):
            return None
        public = {"kty": jwk.kty, **{field: getattr(jwk, field) for field in fields}}
        key = jwt.PyJWK(public, algorithm).key
    except (LookupError, ValueError, RecursionError, jwt.PyJWTError):
        return None
    if isinstance(key, RSAPublicKey) and key.key_size not in RSA_BITS:
        return None
    return PublicKey(jwk.kid, algorithm, key)


def _may_verify(jwk: _Jwk, algorithm: Algorithm) -> bool:
    """Whether the key is for this algorithm. One that shows its private part is nobody's secret."""
    return (
        jwk.use in {None, "sig"}
        and (jwk.key_ops is None or "verify" in jwk.key_ops)
        and jwk.alg in {None, algorithm}
        and jwk.d is UNSET
    )
