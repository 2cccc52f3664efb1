"""Keys in the settings: what is taken for one, and what must never be."""

import json
import re

import pytest

from gateway.signers import ASYMMETRIC, signer, weak
from gateway.tokens import KEY, NEXT_KEY
from turnwire.config.keys import Algorithm, BadKeyError, checked_key, verifying_keys

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
BROKEN = "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n"


def refused(given: str, algorithm: Algorithm, why: str) -> None:
    with pytest.raises(BadKeyError, match=why) as raised:
        verifying_keys(given, algorithm)
    told = repr(raised.value)
    assert not any(word in told for word in re.findall(r"[A-Za-z0-9+/]{16,}", given))


def test_hmac_keys_stand_between_commas() -> None:
    assert verifying_keys(f" {KEY} ,{NEXT_KEY}", "HS256") == [KEY.encode(), NEXT_KEY.encode()]


@pytest.mark.parametrize("given", ["", "x" * 31, "é" * 15, f"{KEY},", f"{KEY},,{NEXT_KEY}"])
def test_an_hmac_key_has_32_bytes(given: str) -> None:
    refused(given, "HS256", "fewer than 32 bytes")


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
def test_a_public_key_in_any_spelling_is_no_hmac_key(algorithm: Algorithm) -> None:
    """Everybody may know it, and could sign with it."""
    pem = signer(algorithm).pem
    bare = "".join(pem.splitlines()[1:-1])
    for given in (pem, pem.strip(), f"{KEY},{pem}", bare, signer(algorithm).private_pem):
        refused(given, "HS256", "a public key")
    for given in (pem.replace("\n", "\\n"), json.dumps(signer(algorithm).jwk("k"))):
        refused(given, "HS256", "a public key|fewer than 32")


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
@pytest.mark.parametrize("several", ["{0}", "{0}{1}", "\n{0}\n\n{1}\n", "{0}{0}"])
def test_public_keys_stand_one_behind_the_other(algorithm: Algorithm, several: str) -> None:
    given = several.format(signer(algorithm).pem, signer(algorithm, 1).pem)
    count = given.count("BEGIN")

    for spelling in (given, given.strip().replace("\n", "\\n"), given.replace("\n", "\r\n")):
        assert len(verifying_keys(spelling, algorithm)) == count


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
@pytest.mark.parametrize("of", [*ASYMMETRIC, "ES384", "Ed448"])
def test_a_key_of_another_kind_is_refused(algorithm: Algorithm, of: str) -> None:
    if of != algorithm:
        refused(signer(of).pem, algorithm, f"a key is not .* which {algorithm} needs")
        refused(signer(algorithm).pem + signer(of).pem, algorithm, f"which {algorithm} needs")


def test_a_short_rsa_key_is_refused() -> None:
    refused(weak().pem, "RS256", "fewer than 2048 bits")


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
def test_a_private_key_is_refused_by_name(algorithm: Algorithm) -> None:
    for label in ("PRIVATE", "RSA PRIVATE", "EC PRIVATE", "ENCRYPTED PRIVATE"):
        pem = signer(algorithm).private_pem.replace("PRIVATE", label)
        refused(pem, algorithm, "private key")
        refused(signer(algorithm).pem + pem.replace("\n", "\\n"), algorithm, "private key")


@pytest.mark.parametrize(
    "given",
    [
        "",
        KEY,
        f"{KEY},{NEXT_KEY}",
        CERTIFICATE,
        BROKEN,
        "{pem}" + CERTIFICATE,
        "{pem}" + KEY,
        "{pem},{pem}",
        "{cut}",
        "{jwk}",
    ],
)
def test_what_is_no_public_key_in_pem_is_refused(given: str) -> None:
    pem = signer("ES256").pem
    jwk = json.dumps(signer("ES256").jwk("k"))
    text = given.replace("{pem}", pem).replace("{cut}", pem[:-30]).replace("{jwk}", jwk)
    refused(text, "ES256", "must be public keys in PEM|a PEM holds no key")


def test_no_public_key_is_checked_for_hmac() -> None:
    with pytest.raises(BadKeyError, match="no key for HS256"):
        checked_key(signer("RS256").private.public_key(), "HS256")
