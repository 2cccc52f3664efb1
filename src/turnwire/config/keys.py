"""Parse and check the keys that verify tokens, at the start of the process."""

import base64
import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, assert_never

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

Algorithm: TypeAlias = Literal["HS256", "RS256", "ES256", "EdDSA"]
Key: TypeAlias = bytes | RSAPublicKey | EllipticCurvePublicKey | Ed25519PublicKey

HMAC_KEY_BYTES_MIN: Final = 32
RSA_KEY_BITS_MIN: Final = 2048

_PEM: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----[A-Za-z0-9+/=\s]*-----END \1-----")
_PRIVATE: Final = re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----")
_PUBLIC: Final = {"PUBLIC KEY", "RSA PUBLIC KEY"}


class BadKeyError(ValueError):
    """Not a key for the algorithm. The text says why, without any part of the key."""


def verifying_keys(setting: str, algorithm: Algorithm) -> list[Key]:
    r"""Return the keys in a setting: HMAC keys separated by commas, or consecutive PEM blocks.

    A PEM block may stand in one line, with `\n` for its line ends.

    Raises:
        BadKeyError: an entry is not a key for the algorithm.

    """
    if algorithm == "HS256":
        return [_hmac_key(key.strip()) for key in setting.split(",")]
    return _public_keys(setting.replace("\\n", "\n"), algorithm)


def checked_key(key: object, algorithm: Algorithm) -> Key:
    """Return the public key, if it has the type and the size that the algorithm needs.

    Raises:
        BadKeyError: it does not.

    """
    match algorithm:
        case "HS256":
            raise BadKeyError("a public key is no key for HS256")
        case "RS256":
            if not isinstance(key, RSAPublicKey):
                raise BadKeyError("a key is not an RSA key, which RS256 needs")
            if key.key_size < RSA_KEY_BITS_MIN:
                raise BadKeyError(f"an RSA key has fewer than {RSA_KEY_BITS_MIN} bits")
            return key
        case "ES256":
            if not isinstance(key, EllipticCurvePublicKey) or not isinstance(key.curve, SECP256R1):
                raise BadKeyError("a key is not on the curve P-256, which ES256 needs")
            return key
        case "EdDSA":
            if not isinstance(key, Ed25519PublicKey):
                raise BadKeyError("a key is not an Ed25519 key, which EdDSA needs")
            return key
        case _:
            assert_never(algorithm)


def _hmac_key(key: str) -> bytes:
    if len(key.encode()) < HMAC_KEY_BYTES_MIN:
        raise BadKeyError(f"a key has fewer than {HMAC_KEY_BYTES_MIN} bytes")
    try:
        # PyJWT rejects public keys here: PEM, DER, OpenSSH, JWK. A public key is not secret, so
        # anyone could sign tokens with it. Some consoles show a public key as bare base64.
        for form in (key.encode(), _base64_decoded(key)):
            jwt.get_algorithm_by_name("HS256").prepare_key(form)
    except jwt.InvalidKeyError as exc:
        raise BadKeyError("a public key, certificate or JWK is no key for HS256") from exc
    return key.encode()


def _base64_decoded(key: str) -> bytes:
    """The bytes that the key encodes in base64; if it is not base64, the key itself."""
    try:
        return base64.b64decode(key, validate=True)
    except ValueError:
        return key.encode()


def _public_keys(pem: str, algorithm: Algorithm) -> list[Key]:
    if _PRIVATE.search(pem):
        raise BadKeyError("holds a private key, which has no business here: give its public half")
    blocks: Sequence[re.Match[str]] = list(_PEM.finditer(pem))
    if not blocks or any(block[1] not in _PUBLIC for block in blocks) or _PEM.sub("", pem).strip():
        raise BadKeyError(f"must be public keys in PEM, which {algorithm} needs, and nothing else")
    return [checked_key(_public_key(block[0]), algorithm) for block in blocks]


def _public_key(block: str) -> object:
    try:
        return load_pem_public_key(block.encode())
    except (ValueError, UnsupportedAlgorithm) as exc:
        raise BadKeyError("a PEM holds no key that can be read") from exc
