"""The key set: which keys of it are taken, and what the gateway makes of it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.agent import ScriptedAgent
from gateway.clients import post, said
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import reply
from gateway.key_sets import Asked, key_set
from gateway.running import Gateway
from gateway.signers import ASYMMETRIC, signer, weak
from turnwire.config.keys import Algorithm

pytestmark = pytest.mark.sockets

OURS, NEXT = signer("ES256"), signer("ES256", 1)


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
async def test_a_key_is_found_by_its_id(algorithm: Algorithm) -> None:
    first, second = signer(algorithm), signer(algorithm, 1)
    async with Asked(key_set(first.jwk("k1"), second.jwk("k2")), algorithm) as asked:
        await asked.has("k1", first)
        await asked.has("k2", second)
        await asked.has_not("K1")
        await asked.has_not("")
        assert asked.fetches == 1


async def test_it_is_asked_for_without_any_token() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)

    (question,) = asked.server.questions
    assert (question.method, question.path) == ("GET", "/jwks?tenant=1")
    assert set(question.headers) == {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "user-agent",
    }


@pytest.mark.parametrize(
    ("told", "fits"),
    [
        ([OURS.jwk("k1")], True),
        ([OURS.jwk()], True),
        ([OURS.jwk("k1"), signer("RS256").jwk("k2")], True),
        ([OURS.jwk("k1"), NEXT.jwk("k2", use="enc")], True),
        ([OURS.jwk("k1"), NEXT.jwk("k2")], False),
        ([OURS.jwk(), NEXT.jwk()], False),
        ([signer("RS256").jwk("k1")], False),
        ([], False),
    ],
)
async def test_a_token_that_names_no_key_needs_a_set_with_one_that_fits(
    told: Sequence[Any],
    fits: bool,  # noqa: FBT001 (a table's column)
) -> None:
    async with Asked(key_set(*told)) as asked:
        await (asked.has(None, OURS) if fits else asked.has_not(None))
        assert asked.fetches == 1


@pytest.mark.parametrize(
    "more",
    [
        {"use": "sig"},
        {"alg": "ES256"},
        {"key_ops": ["verify"]},
        {"key_ops": ["sign", "verify"]},
        {"use": "sig", "alg": "ES256", "key_ops": ["verify"], "x5c": ["MIIB"], "unheard-of": {}},
    ],
)
async def test_what_a_key_says_of_itself_may_fit(more: dict[str, Any]) -> None:
    async with Asked(key_set(OURS.jwk("k1", **more))) as asked:
        await asked.has("k1", OURS)


@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        ("ES256", OURS.jwk("k1", use="enc")),
        ("ES256", OURS.jwk("k1", use="")),
        ("ES256", OURS.jwk("k1", alg="ES384")),
        ("ES256", OURS.jwk("k1", alg="ECDH-ES")),
        ("ES256", OURS.jwk("k1", key_ops=["encrypt"])),
        ("ES256", OURS.jwk("k1", key_ops=[])),
        ("ES256", OURS.jwk("k1", d="AAAA")),
        ("ES256", OURS.jwk("k1", kty="oct", k="c2VjcmV0" * 8)),
        ("ES256", {"kty": "oct", "k": "c2VjcmV0" * 8, "kid": "k1"}),
        ("ES256", OURS.jwk("k1", x="AAAA")),
        ("ES256", OURS.jwk("k1", y=OURS.jwk()["x"])),
        ("ES256", OURS.jwk("k1", x="é")),
        ("ES256", OURS.jwk("k1", y=None)),
        ("ES256", OURS.jwk("k1", crv="P-384")),
        ("ES256", signer("ES384").jwk("k1")),
        ("ES256", signer("ES384").jwk("k1", crv="P-256")),
        ("ES256", signer("RS256").jwk("k1")),
        ("RS256", OURS.jwk("k1")),
        ("RS256", weak().jwk("k1")),
        ("RS256", signer("RS256").jwk("k1", alg="PS256")),
        ("RS256", signer("RS256").jwk("k1", e="AAAA")),
        ("RS256", signer("RS256").jwk("k1", n=7)),
        ("EdDSA", signer("Ed448").jwk("k1")),
        ("EdDSA", signer("EdDSA").jwk("k1", crv="X25519")),
        ("EdDSA", signer("EdDSA").jwk("k1", x="AAAA")),
        ("ES256", OURS.jwk("k1", kid=7)),
        ("ES256", {}),
        ("ES256", []),
        ("ES256", "k1"),
        ("ES256", None),
    ],
)
async def test_a_key_for_something_else_or_a_broken_one_spoils_no_other(
    algorithm: Algorithm, told: Any
) -> None:
    good = signer(algorithm, 5)
    async with Asked(key_set(told, good.jwk("k2")), algorithm) as asked:
        await asked.has_not("k1")
        await asked.has("k2", good)


async def test_a_key_on_another_curve_is_no_news() -> None:
    async with Asked(key_set(signer("ES384").jwk("k1"), signer("RS256").jwk("k2"))) as asked:
        with capture_logs() as logs:
            await asked.has_not("k1")

        assert [line["event"] for line in logs] == ["key set fetched"]


async def test_keys_of_one_id_are_all_tried() -> None:
    async with Asked(key_set(OURS.jwk("k1"), NEXT.jwk("k1"))) as asked:
        await asked.has("k1", OURS, NEXT)


@asynccontextmanager
async def gateway_of(
    server: Server, agent: ScriptedAgent, **more: object
) -> AsyncIterator[Gateway]:
    given = {
        "jwt_key": "",
        "jwt_algorithm": "ES256",
        "jwt_jwks_url": f"http://127.0.0.1:{server.port}/jwks",
        **more,
    }
    async with Gateway(agent.url(), given=given) as gateway:
        yield gateway


async def test_a_gateway_takes_tokens_that_the_key_set_vouches_for() -> None:
    async with (
        ScriptedAgent() as agent,
        Server(key_set(OURS.jwk("k1"))) as server,
        gateway_of(server, agent) as gateway,
    ):
        for token in (OURS.token("k1"), OURS.token()):
            answered = await post(gateway, headers={"authorization": f"Bearer {token}"})
            assert said(answered.text) == "Hello world"
        refused = await post(gateway, headers={"authorization": f"Bearer {NEXT.token('k1')}"})

        assert refused.status_code == 401
        assert len(server.questions) == 1


async def test_a_gateway_that_has_no_key_set_says_503_and_not_401() -> None:
    async with (
        ScriptedAgent() as agent,
        Server(reply(500)) as server,
        gateway_of(server, agent) as gateway,
    ):
        for token in (OURS.token("k1"), NEXT.token("k1")):
            refused = await post(gateway, headers={"authorization": f"Bearer {token}"})
            assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
            assert refused.headers["retry-after"] == "5"
        # What cannot be good with any key is told at once.
        refused = await post(gateway, headers={"authorization": "Bearer nonsense"})

        assert refused.status_code == 401
        assert agent.connections == 0
