"""The matrix of tokens that must not be taken: each forgery, each algorithm, each kind of keys."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask, get, new_client, said
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import reply
from gateway.forgeries import FITTING_ID, forged, good
from gateway.running import Gateway, settings
from gateway.signers import ASYMMETRIC, signer
from gateway.tokens import KEY
from turnwire.config.keys import Algorithm
from turnwire.config.lists import keys
from turnwire.errors import Unauthorized
from turnwire.web.auth.identity import JwtIdentity, StaticKeys
from turnwire.web.auth.jwks import Jwks

pytestmark = pytest.mark.sockets

ALGORITHMS: Sequence[Algorithm] = ("HS256", "RS256", "ES256", "EdDSA")


def key_set(*told: dict[str, Any]) -> bytes:
    return reply(200, json.dumps({"keys": told}).encode())


def static(algorithm: Algorithm) -> dict[str, Any]:
    """Settings with keys of their own."""
    key = KEY if algorithm == "HS256" else signer(algorithm).pem
    return {"jwt_algorithm": algorithm, "jwt_key": key}


@asynccontextmanager
async def fetched(algorithm: Algorithm) -> AsyncIterator[Jwks]:
    """A key set with the good key, and keys of all kinds beside it."""
    others = [signer(each, 3).jwk(f"other-{each}") for each in (*ASYMMETRIC, "ES384", "Ed448")]
    secret = {"kty": "oct", "k": "c2VjcmV0" * 8, "kid": FITTING_ID, "alg": "HS256"}
    told = key_set(*others, secret, signer(algorithm).jwk(FITTING_ID))
    async with Server(told) as server:
        jwks = Jwks(f"http://127.0.0.1:{server.port}/", algorithm, timeout_s=5)
        try:
            yield jwks
        finally:
            await jwks.aclose()


@asynccontextmanager
async def identities(algorithm: Algorithm) -> AsyncIterator[list[JwtIdentity]]:
    checks: Any = {"algorithm": algorithm, "issuer": "", "audience": "", "leeway_s": 0}
    of_settings = StaticKeys(keys(settings(**static(algorithm))))
    if algorithm == "HS256":
        yield [JwtIdentity(of_settings, **checks)]
        return
    async with fetched(algorithm) as jwks:
        yield [JwtIdentity(of_settings, **checks), JwtIdentity(jwks, **checks)]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.attack(
    "forged tokens: `none`, a public key as secret, `jku`, `x5u`, `jwk`, `kid`, `crit`, times",
    "none is accepted; no address in them is fetched",
)
async def test_no_forgery_is_taken_and_nothing_is_fetched_for_one(algorithm: Algorithm) -> None:
    taken = []
    async with Server(key_set(signer("RS256", 7).jwk(FITTING_ID))) as attacker:
        elsewhere = f"http://127.0.0.1:{attacker.port}/keys"
        async with identities(algorithm) as checked:
            for identity in checked:
                assert (await identity.identify(good(algorithm))).user_id == "u1"
            for name, token in forged(algorithm, elsewhere).items():
                for identity in checked:
                    try:
                        await identity.identify(token)
                    except Unauthorized:
                        continue
                    taken.append(name)

        assert taken == []
        assert attacker.connections == 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.attack("forged tokens in a request to the chat", "401 before any dial")
async def test_a_forgery_costs_the_agent_no_connection(algorithm: Algorithm) -> None:
    async with (
        Server() as attacker,
        ScriptedAgent() as agent,
        Gateway(agent.url(), given=static(algorithm)) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        for name, token in forged(algorithm, f"http://127.0.0.1:{attacker.port}/").items():
            if token.isascii() and token:
                headers = {"authorization": f"Bearer {token}"}
                response = await client.post(url, json=ask(), headers=headers)
                assert (response.status_code, response.json()["code"]) == (401, "unauthorized"), (
                    name
                )
        assert agent.connections == 0
        assert attacker.connections == 0

        headers = {"authorization": f"Bearer {good(algorithm)}"}
        response = await client.post(url, json=ask(), headers=headers)
        assert said(response.text) == "Hello world"
        assert (await get(gateway, "/healthz")).status_code == 200


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("told", "is_good"),
    [
        ({"iss": "https://id", "aud": "us"}, True),
        ({"iss": "https://id", "aud": ["them", "us"]}, True),
        ({"iss": "https://id", "aud": ["them"]}, False),
        ({"iss": "https://id", "aud": []}, False),
        ({"iss": "https://id", "aud": [["us"]]}, False),
        ({"iss": "https://id", "aud": {"us": 1}}, False),
        ({"iss": "https://id"}, False),
        ({"aud": "us"}, False),
        ({"iss": "https://id/", "aud": "us"}, False),
        ({"iss": "HTTPS://ID", "aud": "us"}, False),
    ],
)
@pytest.mark.attack(
    "a token of another issuer or for another audience", "401 where the settings name them"
)
async def test_issuer_and_audience_are_checked_with_every_algorithm(
    algorithm: Algorithm,
    told: dict[str, Any],
    is_good: bool,  # noqa: FBT001 (a table's column)
) -> None:
    identity = JwtIdentity(
        StaticKeys(keys(settings(**static(algorithm)))),
        algorithm=algorithm,
        issuer="https://id",
        audience="us",
        leeway_s=0,
    )
    token = good(algorithm, **told)

    if is_good:
        assert (await identity.identify(token)).user_id == "u1"
    else:
        with pytest.raises(Unauthorized):
            await identity.identify(token)
