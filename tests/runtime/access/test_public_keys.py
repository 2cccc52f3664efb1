import builtins
import importlib
import sys
from typing import Any

import pytest

from gateway.signers import ASYMMETRIC, signer, weak
from runtime.access.key_sets import key_set
from turnwire_agent.access import public_keys as module
from turnwire_agent.access.public_keys import KEYS_MAX, NoKeySetError, public_keys

GOOD = signer("ES256").jwk("k")


def test_each_key_has_one_algorithm() -> None:
    keys = public_keys(key_set(*(signer(each).jwk(each) for each in ASYMMETRIC)))

    assert [(key.key_id, key.algorithm) for key in keys] == [(each, each) for each in ASYMMETRIC]


@pytest.mark.parametrize(
    "wrong",
    [
        GOOD | {"use": "enc"},
        GOOD | {"key_ops": ["sign"]},
        GOOD | {"alg": "ES384"},
        GOOD | {"d": "AAAA"},
        GOOD | {"x": "!"},
        GOOD | {"x": 7},
        GOOD | {"crv": "P-384"},
        {"kty": "oct", "k": "c2VjcmV0"},
        signer("RS256").jwk() | {"alg": "PS256"},
        signer("ES384").jwk(),
        signer("Ed448").jwk(),
        weak().jwk(),
        {},
        7,
        None,
    ],
)
def test_a_key_for_something_else_is_left_out_and_the_others_stay(wrong: Any) -> None:
    assert [key.key_id for key in public_keys(key_set(wrong, GOOD))] == ["k"]


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"keys":{}}', b"\xff", b"[" * 100_000])
def test_what_is_no_key_set_is_refused(body: bytes) -> None:
    with pytest.raises(NoKeySetError, match="no key set"):
        public_keys(body)


def test_a_set_has_a_bound() -> None:
    assert len(public_keys(key_set(*[GOOD] * KEYS_MAX))) == KEYS_MAX
    with pytest.raises(NoKeySetError, match="more than 100 keys"):
        public_keys(key_set(*[GOOD] * (KEYS_MAX + 1)))


@pytest.mark.parametrize("lacking", ["jwt", "cryptography"])
def test_without_its_libraries_one_line_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    real = builtins.__import__

    def without(name: str, *more: Any, **named: Any) -> Any:
        if name.partition(".")[0] == lacking:
            raise ModuleNotFoundError(name)
        return real(name, *more, **named)

    monkeypatch.delitem(sys.modules, module.__name__)
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(ImportError, match=r"pip install 'turnwire-agent\[tokens\]'"):
        importlib.import_module(module.__name__)
