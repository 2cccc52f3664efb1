"""A server of key sets that means harm, or breaks: what it costs, and what stays good meanwhile."""

import asyncio
import json
from collections.abc import Mapping
from typing import Final

import pytest
from structlog.testing import capture_logs

from gateway.agent import ScriptedAgent, begin_only
from gateway.clients import ask, new_client
from gateway.control_plane import ControlPlane as Server
from gateway.control_plane import Question, Reply, reply
from gateway.key_sets import Asked, key_set
from gateway.running import Gateway
from gateway.signers import signer
from gateway.waiting import until
from turnwire.errors import Unauthorized
from turnwire.web.auth.identity import JwtIdentity
from turnwire.web.auth.jwks import FRESH_S, PAUSE_S, RETRY_S, SET_BYTES_MAX

pytestmark = pytest.mark.sockets

OURS, NEXT = signer("ES256"), signer("ES256", 1)
ENDLESS_BYTES: Final = 50_000_000
CHUNKED: Final = b"HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n"


def endless(head: bytes, piece: bytes) -> Reply:
    async def says(_: Question, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _piece in range(ENDLESS_BYTES // len(piece)):
            writer.write(piece)
            await writer.drain()

    return says


async def drip(_: Question, writer: asyncio.StreamWriter) -> None:
    """A good set, one byte at a time, which would take a minute."""
    for byte in key_set(OURS.jwk("k1")):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.2)


async def redirect(question: Question, writer: asyncio.StreamWriter) -> None:
    again = f"{question.path}&again".encode()
    writer.write(reply(302, b"", f"location: {again.decode()}"))


async def hang_up(_: Question, writer: asyncio.StreamWriter) -> None:
    writer.write(key_set(OURS.jwk("k1"))[:-5])
    writer.close()


HOSTILE: Final[Mapping[str, tuple[bytes | Reply, str]]] = {
    "a body without end": (
        endless(CHUNKED, b"10000\r\n" + b" " * 65_536 + b"\r\n"),
        "an answer too long",
    ),
    "a body as long as it says": (
        endless(b"HTTP/1.1 200 x\r\ncontent-length: 99999999999\r\n\r\n", b" " * 65_536),
        "an answer too long",
    ),
    "chunks of one byte without end": (endless(CHUNKED, b"1\r\n \r\n" * 4096), "TimeoutError"),
    "a head without end": (
        endless(b"HTTP/1.1 200 x\r\n", b"a: b\r\n" * 4096),
        "RemoteProtocolError",
    ),
    "a header without end": (
        endless(b"HTTP/1.1 200 x\r\na: ", b"b" * 65_536),
        "RemoteProtocolError",
    ),
    "promises without end": (endless(b"", b"HTTP/1.1 100 x\r\n\r\n" * 4096), "TimeoutError"),
    "one byte after the other": (drip, "TimeoutError"),
    "a redirect to itself": (redirect, "status 302"),
    "a hang-up in the middle": (hang_up, "RemoteProtocolError"),
    "nothing": (b"", "TimeoutError"),
    "10,000 keys": (key_set(*[{}] * 10_000), "too many keys"),
}


@pytest.mark.attack(
    "a server of key sets that never ends its answer, drips it, redirects in circles or hangs up",
    "503 within the dial time while there is no set; otherwise the last set stays in use, and "
    "at most one connection is open",
)
@pytest.mark.parametrize(("says", "problem"), HOSTILE.values(), ids=list(HOSTILE))
async def test_hostile_servers_cost_little_and_spoil_nothing(
    says: bytes | Reply, problem: str
) -> None:
    async with Asked(says, timeout_s=0.5) as asked:
        with capture_logs() as logs:
            await asked.cannot_tell()
        assert [(line["log_level"], line["problem"]) for line in logs] == [("warning", problem)]
        assert asked.server.most_open == 1

        asked.server.says = key_set(OURS.jwk("k1"))
        asked.clock.now += RETRY_S
        await asked.has("k1", OURS)
        asked.server.says = says
        asked.clock.now += FRESH_S
        await asked.has("k1", OURS)
        await asked.settled()
        await asked.has("k1", OURS)
        assert asked.fetches == 3


KIDS: Final = {
    "1 MB": "k" * 1_000_000,
    "a path": "../../etc/passwd",
    "a URL": "http://127.0.0.1:1/jwks",
    "SQL": "' or '1'='1",
    "line breaks": "k1\r\nset-cookie: a=b",
    "NUL": "k1\0",
    "empty": "",
    "another script": "ｋ１",  # noqa: RUF001 (that is the point)
}


@pytest.mark.attack(
    "a token whose `kid` is a megabyte, a path, a URL, or a line of a log",
    "401; the gateway only compares it",
)
@pytest.mark.parametrize("kid", KIDS.values(), ids=list(KIDS))
async def test_a_key_id_is_compared_and_nothing_else(kid: str) -> None:
    async with Asked(key_set(OURS.jwk("k1"))) as asked:
        identity = JwtIdentity(asked.jwks, algorithm="ES256", issuer="", audience="", leeway_s=0)
        await identity.identify(OURS.token("k1"))
        asked.clock.now += PAUSE_S
        with capture_logs() as logs, pytest.raises(Unauthorized) as refused:
            await identity.identify(OURS.token(kid))

        assert asked.fetches == 2
        assert {question.path for question in asked.server.questions} == {"/jwks?tenant=1"}
        assert not kid or kid not in f"{logs} {refused.value}"


async def test_a_key_whose_id_is_long_spoils_no_other() -> None:
    kid = "k" * (SET_BYTES_MAX - 1000)
    async with Asked(key_set(NEXT.jwk(kid), OURS.jwk("k1"))) as asked:
        await asked.has("k1", OURS)
        await asked.has(kid, NEXT)


WRONG: Final = {
    "HS256": {"alg": "HS256"},
    "another curve's": {"alg": "ES384"},
    "a kind of its own": {"kty": "RSA"},
    "a number as type": {"kty": 1},
    "no type": {"kty": None},
    "a number as id": {"kid": 1},
    "an array of ids": {"kid": ["k1"]},
    "numbers as coordinates": {"x": 1, "y": 2},
    "a point beside the curve": {"y": "AAAA"},
    "a coordinate of 100 KB": {"x": "A" * 100_000},
    "for encryption": {"use": "enc"},
    "with its private part": {"d": "AAAA"},
}


@pytest.mark.parametrize("more", WRONG.values(), ids=list(WRONG))
async def test_a_wrong_key_is_none_whatever_is_wrong(more: dict[str, object]) -> None:
    wrong = {key: value for key, value in (OURS.jwk("k1") | more).items() if value is not None}
    async with Asked(key_set(wrong, NEXT.jwk("k2"))) as asked:
        await asked.has("k2", NEXT)
        await asked.has_not("k1")


@pytest.mark.fault(
    "the server of the key set dies, and its keys were rotated, while streams are open",
    "open streams continue; tokens signed with known keys are accepted; other tokens get 401",
)
async def test_open_streams_and_known_keys_outlive_the_server() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Server(key_set(OURS.jwk("k1"))) as server,
        Gateway(
            agent.url(),
            jwt_key="",
            jwt_algorithm="ES256",
            jwt_jwks_url=f"http://127.0.0.1:{server.port}/jwks",
        ) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"

        async def asks(token: str) -> int:
            sent = {"authorization": f"Bearer {token}"}
            async with client.stream("POST", url, json=ask(), headers=sent) as response:
                return response.status_code

        known = {"authorization": f"Bearer {OURS.token('k1')}"}
        async with client.stream("POST", url, json=ask(), headers=known) as first:
            assert first.status_code == 200
            server.says = reply(500)
            server.hang_up()
            assert await asks(OURS.token("k1")) == 200
            assert await asks(NEXT.token("k2")) == 401
            assert await asks(NEXT.token("k1")) == 401
            await until(lambda: len(agent.lines) == 2)
            assert not agent.lines[0].closed

        assert json.dumps([question.path for question in server.questions]) == '["/jwks"]'
