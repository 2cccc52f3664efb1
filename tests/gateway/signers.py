"""Whoever signs tokens: key pairs of each kind, made once, and tokens by them."""

from functools import cache
from typing import Any, NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    SECP384R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed448 import Ed448PrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as new_rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from gateway.tokens import claims

Json = dict[str, Any]
Private = RSAPrivateKey | EllipticCurvePrivateKey | Ed25519PrivateKey | Ed448PrivateKey

ASYMMETRIC = ("RS256", "ES256", "EdDSA")


class Signer(NamedTuple):
    algorithm: str
    private: Private

    @property
    def pem(self) -> str:
        """The public key."""
        public = self.private.public_key()
        return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    @property
    def private_pem(self) -> str:
        kind = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return self.private.private_bytes(*kind).decode()

    def jwk(self, key_id: str | None = None, **more: Any) -> Json:
        """The public key, as a key set tells it; `None` takes a field away."""
        told: Json = jwt.get_algorithm_by_name(self.algorithm).to_jwk(
            self.private.public_key(), as_dict=True
        )
        told.pop("key_ops", None)
        return {k: v for k, v in (told | {"kid": key_id} | more).items() if v is not None}

    def token(self, key_id: str | None = None, *, header: Json | None = None, **more: Any) -> str:
        """A token by this key; it names the key if told to."""
        named = {} if key_id is None else {"kid": key_id}
        return jwt.encode(claims(**more), self.private, self.algorithm, {**named, **(header or {})})


def signer(algorithm: str, number: int = 0) -> Signer:
    """The same one for the same number."""
    return _made(algorithm, number)


@cache
def _made(algorithm: str, _number: int) -> Signer:
    match algorithm:
        case "RS256":
            return Signer(algorithm, new_rsa(65_537, 2048))
        case "ES256":
            return Signer(algorithm, generate_private_key(SECP256R1()))
        case "ES384":
            return Signer(algorithm, generate_private_key(SECP384R1()))
        case "Ed448":
            return Signer("EdDSA", Ed448PrivateKey.generate())
        case _:
            return Signer("EdDSA", Ed25519PrivateKey.generate())


@cache
def weak() -> Signer:
    """An RSA key that is too short."""
    return Signer("RS256", new_rsa(65_537, 1024))  # noqa: S505 (it is refused)
