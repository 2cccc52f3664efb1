import copy
import pickle

import httpx
import pytest
from msgspec import Struct

from turnwire_agent.llm.credentials.secret import Secret, SecretHeaders


class Holder(Struct):
    secret: Secret


def test_only_reveal_gives_the_text() -> None:
    secret = Secret("canary")

    assert secret.reveal() == "canary"
    for shown in (repr(secret), str(secret), f"{secret}", repr(Holder(secret)), repr([secret])):
        assert "canary" not in shown


def test_it_compares_by_its_text() -> None:
    assert Secret("kéy") == Secret("kéy")
    assert Secret("key") != Secret("kex")
    assert Secret("key") != "key"


def test_it_is_neither_hashed_nor_pickled_nor_copied() -> None:
    for taken in (Secret("canary"), SecretHeaders({"x": "canary"})):
        for take in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError) as raised:
                take(taken)
            assert "canary" not in str(raised.value)
    with pytest.raises(TypeError):
        hash(Secret("canary"))


def test_headers_are_a_mapping_that_shows_names_alone() -> None:
    headers = SecretHeaders({"x-api-key": "canary"})

    assert dict(headers) == {"x-api-key": "canary"}
    assert len(headers) == 1
    assert httpx.Headers(headers)["X-Api-Key"] == "canary"
    assert repr(headers) == str(headers) == "SecretHeaders(x-api-key)"
