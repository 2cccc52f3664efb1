import importlib
import sys

import pytest
from cryptography.fernet import Fernet

from turnwire_agent.llm.credentials import fernet
from turnwire_agent.llm.credentials.fernet import fernet_seal
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.sources import KeyValue
from turnwire_agent.llm.credentials.token_store import Seal


def new_key() -> KeyValue:
    return KeyValue(Fernet.generate_key().decode())


async def test_what_is_sealed_is_opened_with_the_same_key_alone() -> None:
    key = new_key()
    seal: Seal = await fernet_seal(key)
    sealed = seal.encrypt(b"canary")

    assert b"canary" not in sealed
    assert (await fernet_seal(key)).decrypt(sealed) == b"canary"
    assert (await fernet_seal(new_key())).decrypt(sealed) is None
    assert seal.decrypt(sealed[:-4] + b"AAAA") is None
    assert seal.decrypt(b"") is None


@pytest.mark.parametrize("key", ["canary", "canary=", "c" * 44])
async def test_another_key_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(CredentialError) as raised:
        await fernet_seal(KeyValue(key))

    assert str(raised.value) == (
        "The key of KeyValue(...) seals no tokens: it is not 32 bytes in base64."
    )
    assert raised.value.__context__ is None


def test_without_the_package_its_name_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.fernet", None)

    with pytest.raises(ImportError, match=r"pip install 'turnwire-agent\[sealed\]'"):
        importlib.reload(fernet)
