"""The key set: when it is fetched, and what a failure is worth."""

import asyncio
import gzip
import json

import pytest
from structlog.testing import capture_logs

from gateway.control_plane import Question, reply
from gateway.key_sets import Asked, key_set
from gateway.signers import signer, weak
from gateway.tokens import token as by_hmac
from gateway.waiting import until
from turnwire.errors import Unauthorized, Unavailable
from turnwire.web.auth.identity import JwtIdentity
from turnwire.web.auth.jwks import FRESH_S, KEYS_MAX, PAUSE_S, RETRY_S, SET_BYTES_MAX, STALE_S, Jwks

pytestmark = pytest.mark.sockets

OURS, NEXT = signer("ES256"), signer("ES256", 1)


async def test_all_who_come_first_wait_for_one_fetch() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asyncio.gather(*(asked.has("k1", OURS) for _ in range(20)))

        assert asked.fetches == 1


async def test_whoever_leaves_does_not_take_the_fetch_along() -> None:
    release = asyncio.Event()

    async def slow(_: Question, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(key_set(OURS.jwk("k1")))

    async with Asked(b"") as asked:
        asked.server.says = slow
        leaving = asyncio.create_task(asked.jwks.keys_for("k1"))
        await until(lambda: asked.fetches == 1)
        staying = asyncio.create_task(asked.has("k1", OURS))
        leaving.cancel()
        await asyncio.wait([leaving])
        release.set()
        await staying

        assert asked.fetches == 1


async def test_a_fetch_that_takes_long_has_no_second_one_beside_it() -> None:
    async with Asked(b"") as asked:
        first = asyncio.create_task(asked.jwks.keys_for("k1"))
        await until(lambda: asked.fetches == 1)
        asked.clock.now += PAUSE_S
        second = asyncio.create_task(asked.jwks.keys_for("k2"))
        await asyncio.sleep(0)

        assert asked.jwks._fetch_task is not None
        asked.server.hang_up()
        for waiting in (first, second):
            with pytest.raises(Unavailable):
                await waiting
        assert asked.server.connections == 1


async def test_no_fetch_is_made_for_a_token_that_no_key_could_save() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        identity = JwtIdentity(asked.jwks, algorithm="ES256", issuer="", audience="", leeway_s=0)
        crit = OURS.token("k1", header={"crit": ["b64"]})
        for token in (signer("RS256").token("k1"), by_hmac(), crit, "nonsense", "", "a.b.c"):
            with pytest.raises(Unauthorized):
                await identity.identify(token)

        assert asked.fetches == 0


async def test_a_rotated_key_is_found_by_one_more_fetch() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        asked.server.says = key_set(OURS.jwk("k1"), NEXT.jwk("k2"))

        await asked.has_not("k2")  # it is too soon to ask again
        asked.clock.now += PAUSE_S
        await asyncio.gather(*(asked.has("k2", NEXT) for _ in range(20)))

        assert asked.fetches == 2


@pytest.mark.attack("a flood of made-up key ids", "one fetch of the key set in 30 seconds")
async def test_a_flood_of_made_up_ids_makes_one_fetch_in_thirty_seconds() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        for second in range(90):
            asked.clock.now += 1
            await asyncio.gather(*(asked.has_not(f"{second}-{n}") for n in range(20)))
            await asked.has("k1", OURS)

        assert asked.fetches == 1 + 3


async def test_an_old_set_is_fetched_anew_while_requests_go_on_with_it() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        asked.clock.now += FRESH_S - 1
        await asked.has("k1", OURS)
        assert asked.jwks._fetch_task is None
        asked.server.says = key_set(NEXT.jwk("k2"))

        asked.clock.now += 1
        await asked.has("k1", OURS)
        await asked.settled()

        await asked.has_not("k1")  # it was withdrawn
        await asked.has("k2", NEXT)
        assert asked.fetches == 2


async def test_for_a_set_of_yesterday_requests_wait() -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        asked.server.says = key_set(NEXT.jwk("k2"))

        asked.clock.now += STALE_S

        await asked.has_not("k1")
        assert asked.fetches == 2


# What a failure is worth.

NONSENSE = [
    reply(404),
    reply(500, json.dumps({"keys": [OURS.jwk("k1")]}).encode()),
    reply(204),
    reply(302, b"", "location: /elsewhere"),
    reply(200),
    reply(200, b"<html>"),
    reply(200, b"[]"),
    reply(200, b"{}"),
    reply(200, b'{"keys":{}}'),
    reply(200, b'{"keys":null}'),
    reply(200, b'{"keys":' + b"[" * 100_000),
    reply(200, b'{"keys":[' + b" " * SET_BYTES_MAX + b"]}"),
    reply(200, gzip.compress(json.dumps({"keys": [OURS.jwk("k1")]}).encode())),
    key_set(*[OURS.jwk("k1")] * (KEYS_MAX + 1)),
    b"SSH-2.0-OpenSSH\r\n\r\n",
]


@pytest.mark.parametrize("says", NONSENSE, ids=map(str, range(len(NONSENSE))))
async def test_without_a_set_it_cannot_be_told_whose_a_token_is(says: bytes) -> None:
    async with Asked(says) as asked:
        with capture_logs() as logs:
            await asked.cannot_tell()

        assert [line["log_level"] for line in logs] == ["warning"]
        assert [question.path for question in asked.server.questions] == ["/jwks?tenant=1"]


@pytest.mark.parametrize("says", NONSENSE, ids=map(str, range(len(NONSENSE))))
async def test_the_last_set_stays_good_while_no_other_can_be_had(says: bytes) -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        asked.server.says = says
        for age_s in (FRESH_S, STALE_S, 10 * STALE_S):
            asked.clock.now = 1_000 + age_s
            with capture_logs() as logs:
                await asked.has("k1", OURS)
                await asked.settled()
            assert [(line["log_level"], line["old_one_kept"]) for line in logs] == [
                ("warning", True)
            ]
        await asked.cannot_tell("k2")  # it may be one that the server would tell us

        asked.server.says = key_set(OURS.jwk("k1"))
        asked.clock.now += PAUSE_S
        await asked.has_not("k2")


async def test_a_server_that_is_not_there_is_asked_again_soon() -> None:
    async with Asked(reply(500)) as asked:
        await asked.cannot_tell()
        await asked.cannot_tell()
        assert asked.fetches == 1

        asked.server.says = key_set(OURS.jwk("k1"))
        await asked.cannot_tell()
        asked.clock.now += RETRY_S
        await asked.has("k1", OURS)

        assert asked.fetches == 2


async def test_nobody_there_at_all() -> None:
    jwks = Jwks("http://127.0.0.1:1/jwks", "ES256", timeout_s=5)

    with pytest.raises(Unavailable):
        await jwks.keys_for("k1")

    await jwks.aclose()


async def test_the_wait_is_bounded() -> None:
    async with Asked(b"", timeout_s=0.1) as asked:  # it says nothing
        with capture_logs() as logs:
            await asked.cannot_tell()

        assert logs[0]["problem"] == "TimeoutError"


async def test_a_set_of_no_use_is_a_set_and_told_in_the_log() -> None:
    """Whoever withdraws all keys means it."""
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        asked.server.says = key_set()
        asked.clock.now += STALE_S
        with capture_logs() as logs:
            await asked.has_not("k1")

        assert [(line["log_level"], line["usable_keys"]) for line in logs] == [("warning", 0)]


async def test_a_weak_key_is_told_in_the_log() -> None:
    async with Asked(key_set(weak().jwk("k1")), "RS256") as asked:
        with capture_logs() as logs:
            await asked.has_not("k1")

        assert "fewer than 2048 bits" in logs[0]["problem"]


async def test_what_is_under_way_ends_with_its_owner() -> None:
    async with Asked(b"") as asked:
        asking = asyncio.create_task(asked.jwks.keys_for("k1"))
        await until(lambda: asked.fetches == 1)

        await asked.jwks.aclose()
        await asyncio.wait([asking])

        assert asking.cancelled()
