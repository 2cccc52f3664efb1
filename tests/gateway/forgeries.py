"""Tokens that must not be taken, for each algorithm that may be configured."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

import jwt

from gateway.signers import ASYMMETRIC, Signer, signer
from gateway.tokens import KEY, OTHER_KEY, claims, handmade
from gateway.tokens import token as by_hmac

FITTING_ID = "k1"
"""The id that the key set of these tests gives the good key."""


def forged(algorithm: str, elsewhere: str) -> dict[str, str]:
    """By what is wrong with each. `elsewhere` is a URL where an attacker's own keys are."""
    now = int(time.time())
    stale: dict[str, Mapping[str, Any]] = {
        "expired": {"exp": now - 1},
        "expired long ago": {"exp": 0},
        "an exp before the year 1": {"exp": -(10**30)},
        "an exp that is no number": {"exp": "soon"},
        "an exp that is a list": {"exp": [now + 60]},
        "an exp without end": {"exp": float("inf")},
        "no exp": {"exp": None},
        "not yet good": {"nbf": now + 3600},
        "an nbf that is no number": {"nbf": "now"},
        "issued in the future": {"iat": now + 3600},
        "no subject": {"sub": None},
        "an empty subject": {"sub": ""},
        "a subject that is a number": {"sub": 7},
    }
    found = {name: good(algorithm, **wrong) for name, wrong in stale.items()}
    found |= _of_others(algorithm, elsewhere)
    found |= _unsigned(algorithm)
    found |= _by_public_key(algorithm)
    return found


def good(algorithm: str, *, header: dict[str, Any] | None = None, **more: Any) -> str:
    """A token that is taken, but for what is said to be wrong with it."""
    if algorithm == "HS256":
        return jwt.encode(claims(**more), KEY, "HS256", header)
    return signer(algorithm).token(FITTING_ID, header=header, **more)


def _of_others(algorithm: str, elsewhere: str) -> dict[str, str]:
    """Well signed, but by somebody else, who says where the key is, or which."""
    found = {
        f"signed with {other}": signer(other, 7).token(FITTING_ID)
        for other in (*ASYMMETRIC, "ES384", "Ed448")
    }
    found["signed with HS256 by another key"] = by_hmac(key=OTHER_KEY)
    found["signed with HS512"] = by_hmac(key=OTHER_KEY * 2, algorithm="HS512")
    if algorithm != "HS256":
        evil, ours = signer(algorithm, 7), signer(algorithm)
        attacker = evil.jwk(FITTING_ID)
        der = "MIIB" * 8
        headers: dict[str, dict[str, Any]] = {
            "a key embedded": {"jwk": attacker},
            "a private key embedded": {"jwk": attacker | {"d": "AAAA"}},
            "a certificate embedded": {"x5c": [der], "x5t": "AAAA"},
            "a key set elsewhere": {"jku": elsewhere},
            "a certificate elsewhere": {"x5u": elsewhere},
            "a key id that is a URL": {"kid": elsewhere},
            "a key id that is a path": {"kid": "../../../../dev/null"},
            "a key id that is SQL": {"kid": "k1' OR '1'='1"},
            "a key id with a NUL": {"kid": "k1\0"},
            "a long key id": {"kid": "k" * 20_000},
        }
        for name, header in headers.items():
            sent = {"kid": FITTING_ID, **header}
            found[name] = jwt.encode(claims(), evil.private, evil.algorithm, sent)
        found["no key id"] = evil.token()
        found["another algorithm by our key"] = _renamed(ours, "RS512")
    return found


def _unsigned(algorithm: str) -> dict[str, str]:
    header = {"typ": "JWT", "alg": algorithm, "kid": FITTING_ID}
    head, body, signature = good(algorithm).split(".")
    found = {
        f"alg {alg!r}": handmade({**header, "alg": alg}, claims())
        for alg in ("none", "None", "NONE", "nOnE", "", None, [algorithm], algorithm.lower())
    }
    return found | {
        "no signature": f"{head}.{body}.",
        "two parts": f"{head}.{body}",
        "four parts": f"{head}.{body}.{signature}.{signature}",
        "another payload": f"{head}.{handmade(header, claims('root')).split('.')[1]}.{signature}",
        "a zero signature": handmade(header, claims(), b"\0" * 64),
        "a zero signature of RSA": handmade(header, claims(), b"\0" * 256),
        "a signature cut short": f"{head}.{body}.{signature[:-8]}",
        "crit": good(algorithm, header={"crit": ["exp"]}),
        "crit and b64": _signed(algorithm, {**header, "crit": ["b64"], "b64": True}),
        "an empty crit": good(algorithm, header={"crit": []}),
        "a kid that is a number": handmade({**header, "kid": 7}, claims()),
        "no header": f".{body}.{signature}",
        "a header that is no object": f"{_b64(b'[]')}.{body}.{signature}",
        "a header that is no JSON": f"{_b64(b'{')}.{body}.{signature}",
        "a header nested deep": f"{_b64(b'[' * 20_000)}.{body}.{signature}",
        "an encrypted one": f"{head}..{body}.{body}.{signature}",
    }


def _by_public_key(algorithm: str) -> dict[str, str]:
    """What everybody may know, used as the secret of an HMAC."""
    if algorithm == "HS256":
        return {}
    ours = signer(algorithm)
    secrets = {
        "the public key": ours.pem,
        "the public key without its last line end": ours.pem.strip(),
        "the public key in one line": ours.pem.replace("\n", "\\n"),
        "the public key without its armour": "".join(ours.pem.split("\n")[1:-2]),
        "the key's JSON": json.dumps(ours.jwk(FITTING_ID)),
        "nothing": "",
    }
    found = {}
    for name, secret in secrets.items():
        for alg in ("HS256", algorithm):
            header = {"typ": "JWT", "alg": alg, "kid": FITTING_ID}
            unsigned = handmade(header, claims()).rpartition(".")[0]
            mac = hmac.new(secret.encode(), unsigned.encode(), hashlib.sha256).digest()
            found[f"{alg} by {name}"] = f"{unsigned}.{_b64(mac)}"
    return found


def _signed(algorithm: str, header: dict[str, Any]) -> str:
    """A header that the library would not write, and a good signature over it."""
    unsigned = handmade(header, claims()).rpartition(".")[0]
    algorithm_of = jwt.get_algorithm_by_name(algorithm)
    key = KEY.encode() if algorithm == "HS256" else signer(algorithm).private
    return f"{unsigned}.{_b64(algorithm_of.sign(unsigned.encode(), key))}"


def _renamed(by: Signer, alg: str) -> str:
    """A good signature, under another name of its algorithm."""
    _, body, signature = by.token(FITTING_ID).split(".")
    return f"{_b64(json.dumps({'alg': alg, 'kid': FITTING_ID}).encode())}.{body}.{signature}"


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
