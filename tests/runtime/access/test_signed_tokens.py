import logging
import time
from typing import Any

import pytest

from gateway.forgeries import FITTING_ID, forged, good
from gateway.signers import ASYMMETRIC, signer
from gateway.tokens import claims, handmade
from runtime.access.key_sets import Told, key_set
from runtime.generate.served import model, refused, serving
from runtime.llm.call.called import ANSWER
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends
from turnwire_agent.access import signed_tokens
from turnwire_agent.access.key_set import KeySet
from turnwire_agent.access.public_keys import Terms
from turnwire_agent.access.refusal import RefusedError
from turnwire_agent.access.signed_tokens import SignedTokens

ANY = Terms("", "", 0.0)
ELSEWHERE = "https://evil.example/keys"


def verifier(*keys: Any, terms: Terms = ANY) -> SignedTokens:
    return SignedTokens(KeySet(Told(*keys)), terms)


def ours(algorithm: str = "ES256") -> dict[str, Any]:
    return signer(algorithm).jwk(FITTING_ID)


async def refusal(tokens: SignedTokens, token: str) -> str:
    with pytest.raises(RefusedError) as raised:
        await tokens.caller(token)
    assert raised.value.__cause__ is None
    return raised.value.refusal.message


@pytest.mark.parametrize("algorithm", ASYMMETRIC)
async def test_no_forgery_is_taken(algorithm: str) -> None:
    secret = {"kty": "oct", "k": "c2VjcmV0" * 8, "kid": FITTING_ID, "alg": "HS256"}
    others = [signer(each, 3).jwk(f"other-{each}") for each in (*ASYMMETRIC, "ES384", "Ed448")]
    tokens = verifier(*others, secret, ours(algorithm))

    assert (await tokens.caller(good(algorithm))).user == "u1"
    for name, token in forged(algorithm, ELSEWHERE).items():
        with pytest.raises(RefusedError) as raised:
            await tokens.caller(token)
        assert raised.value.refusal.status == 401, name


async def test_unsigned_tokens_and_shared_keys_are_refused_whatever_the_set_has() -> None:
    shared = {"kty": "oct", "k": "c2VjcmV0" * 8, "kid": FITTING_ID}
    tokens = verifier(shared, ours())

    for alg in ("none", "HS256", "HS512"):
        token = handmade({"alg": alg, "kid": FITTING_ID}, claims())
        assert await refusal(tokens, token) == signed_tokens.WRONG_ALGORITHM.message


async def test_why_a_token_is_refused_is_told() -> None:
    tokens = verifier(ours(), terms=Terms("https://issuer.example", "agent", 0.0))
    fits: dict[str, Any] = {"iss": "https://issuer.example", "aud": ["other", "agent"]}
    now = int(time.time())

    assert (await tokens.caller(good("ES256", **fits))).user == "u1"
    for wrong, why in (
        ({"exp": now - 1}, "has expired"),
        ({"exp": None}, "lacks a claim"),
        ({"nbf": now + 60}, "is not valid yet"),
        ({"iss": "https://evil.example"}, "is of another issuer"),
        ({"iss": None}, "lacks a claim"),
        ({"aud": "other"}, "is for another audience"),
        ({"aud": None}, "lacks a claim"),
        ({"sub": ""}, "names no user"),
        ({"sub": "\ud800"}, "names no user"),
        ({"exp": "soon"}, "is not good"),
    ):
        token = good("ES256", **{**fits, **wrong})
        assert await refusal(tokens, token) == f"The bearer token {why}.", wrong
    stranger = signer("ES256", 1)
    assert "unknown key" in await refusal(tokens, stranger.token("k2"))
    assert "unknown key" in await refusal(tokens, stranger.token(FITTING_ID))
    long = good("ES256", **fits, more="x" * signed_tokens.TOKEN_CHARS)
    assert "no signed token" in await refusal(tokens, long)


async def test_clocks_may_be_a_little_apart() -> None:
    tokens = verifier(ours(), terms=Terms("", "", 30.0))
    now = int(time.time())

    assert (await tokens.caller(good("ES256", exp=now - 20))).user == "u1"
    assert "has expired" in await refusal(tokens, good("ES256", exp=now - 40))
    for apart in (-1.0, 301.0, float("nan")):
        with pytest.raises(ValueError, match="apart"):
            verifier(ours(), terms=Terms("", "", apart))


async def test_two_keys_of_one_id_are_both_tried() -> None:
    first, second = signer("ES256", 1), signer("ES256", 2)
    tokens = verifier(signer("RS256").jwk("k"), first.jwk("k"), second.jwk("k"))

    assert (await tokens.caller(second.token("k"))).user == "u1"


async def test_a_token_without_an_id_is_taken_if_there_is_one_key() -> None:
    one = verifier(signer("ES256").jwk())
    two = verifier(signer("ES256").jwk("a"), signer("ES256", 1).jwk("b"))

    assert (await one.caller(signer("ES256").token())).user == "u1"
    assert "unknown key" in await refusal(two, signer("ES256").token())


async def test_without_keys_it_is_not_the_fault_of_the_token() -> None:
    source = Told()
    source.body = None
    tokens = SignedTokens(KeySet(source), ANY)

    with pytest.raises(RefusedError) as raised:
        await tokens.caller(good("ES256"))
    assert raised.value.refusal == signed_tokens.NO_KEYS
    assert raised.value.refusal.status == 503


@pytest.mark.sockets
async def test_a_server_asks_for_them_and_no_token_is_in_its_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = Told(ours())
    tokens = SignedTokens(KeySet(source), ANY)
    given = [good("ES256"), good("ES256", exp=1), signer("ES256", 1).token("other")]
    with caplog.at_level(logging.DEBUG):
        async with (
            ScriptedServer([sends(STREAM_HEAD + ANSWER)]) as provider,
            serving(model(provider.url), tokens=tokens, loopback=False) as program,
        ):
            right, late, strange = [
                await program.post(authorization=f"Bearer {token}") for token in given
            ]
            without = await program.post()

    assert right.status_code == 200
    assert refused(late) == (401, "The bearer token has expired.")
    assert late.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert refused(strange) == (401, "The bearer token is signed with an unknown key.")
    assert refused(without) == (401, "A bearer token is needed.")
    assert len(provider.asked) == 1
    assert "outcome=refused" in caplog.text
    assert not [part for token in given for part in token.split(".") if part in caplog.text]
    assert key_set(ours()).decode() not in caplog.text


async def test_a_caller_is_good_until_the_token_expires_by_the_clock_of_the_issuer() -> None:
    tokens = verifier(ours(), terms=Terms("", "", 5.0))
    soon = int(time.time()) + 100

    assert (await tokens.caller(good("ES256", exp=soon))).expires_at == soon + 5
    never = (await tokens.caller(good("ES256", exp=10**400))).expires_at
    assert never is not None
    assert never > soon
