"""Requests that a proxy and a server may read differently. None is read as two."""

import asyncio
import json
import re

import pytest

from gateway.agent import ScriptedAgent, begin_only
from gateway.clients import RawClient, ask, get, request
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.web.http import HEAD_BYTES_MAX, HEADERS_MAX

pytestmark = pytest.mark.sockets

BODY = json.dumps(ask()).encode()
INNER = request(BODY)
"""A good prompt, for whoever reads the rest as a request of its own."""

HEALTH = b"GET /healthz HTTP/1.1\r\nhost: gateway\r\n"
CHUNKED = b"0\r\n\r\n"


def post(*headers: bytes, host: bytes = b"host: gateway") -> bytes:
    """The head of a prompt with these headers."""
    auth = f"authorization: {bearer()['authorization']}".encode()
    first = (b"POST /api/sessions/s1/chat HTTP/1.1", b"content-type: application/json")
    return b"\r\n".join([*first, auth, *((host,) if host else ()), *headers, b"", b""])


def length(of: bytes) -> bytes:
    return b"content-length: %d" % len(of)


TE = b"transfer-encoding: chunked"

FRAMED = {
    "CL and TE": post(length(CHUNKED + INNER), TE) + CHUNKED + INNER,
    "TE and CL": post(TE, length(CHUNKED + INNER)) + CHUNKED + INNER,
    "two lengths": post(length(b""), length(INNER)) + INNER,
    "two lengths in one": post(b"content-length: 0, %d" % len(INNER)) + INNER,
    "the same length twice": post(length(BODY), length(BODY)) + BODY + INNER,
    "a negative length": post(b"content-length: -1") + INNER,
    "a length with a sign": post(b"content-length: +0") + INNER,
    "a length in hexadecimals": post(b"content-length: 0x0") + INNER,
    "a length with a space in it": post(b"content-length: 0 5") + INNER,
    "no length's value": post(b"content-length:") + INNER,
    "a length beyond all": post(b"content-length: 18446744073709551616") + INNER,
    "a space before the colon": post(b"transfer-encoding : chunked", length(INNER)) + INNER,
    "a tab before the colon": post(b"transfer-encoding\t: chunked") + CHUNKED + INNER,
    "chunked in a list": post(b"transfer-encoding: chunked, identity") + CHUNKED + INNER,
    "almost chunked": post(b"transfer-encoding: xchunked") + CHUNKED + INNER,
    "chunked in quotes": post(b'transfer-encoding: "chunked"') + CHUNKED + INNER,
    "another coding": post(b"transfer-encoding: identity", length(BODY)) + BODY + INNER,
    "two codings": post(TE, b"transfer-encoding: identity") + CHUNKED + INNER,
    "chunked by HTTP/1.0": post(TE).replace(b"/1.1", b"/1.0", 1) + CHUNKED + INNER,
    "a folded coding": post(b"transfer-encoding:\r\n chunked") + CHUNKED + INNER,
    "a chunk's length with spaces": post(TE) + b" 0\r\n\r\n" + INNER,
    "a chunk's length with a sign": post(TE) + b"-1\r\n\r\n" + INNER,
    "a chunk's length in C": post(TE) + b"0x1\r\na\r\n0\r\n\r\n" + INNER,
    "a chunk that is longer": post(TE) + b"1\r\nabc\r\n0\r\n\r\n" + INNER,
    "a chunk's length without end": post(TE) + b"f" * 17 + b"\r\n" + INNER,
    "chunks that end in LF": post(TE) + b"0\n\n" + INNER,
}
HEADS = {
    "a folded header": HEALTH + b"x: a\r\n b\r\n\r\n",
    "a line that ends in LF": HEALTH.replace(b"\r\n", b"\n") + b"\n",
    "a line that ends in CR": HEALTH.replace(b"\r\n", b"\r") + b"\r\r",
    "one line that ends in LF": HEALTH + b"x: a\ny: b\r\n\r\n",
    "a space before the first header": HEALTH.replace(b"host", b" host") + b"\r\n",
    "no colon": HEALTH + b"nonsense\r\n\r\n",
    "a NUL in a header": HEALTH + b"x: a\0b\r\n\r\n",
    "a name with a line break": HEALTH + b"x\ry: a\r\n\r\n",
    "no name": HEALTH + b": a\r\n\r\n",
    "no host": HEALTH.replace(b"host: gateway\r\n", b"") + b"\r\n",
    "two hosts": HEALTH + b"host: gateway\r\n\r\n",
    "two hosts in one": HEALTH.replace(b"gateway", b"gateway, evil.example") + b"\r\n",
    "a host with a path": HEALTH.replace(b"gateway", b"gateway/x") + b"\r\n",
    "a host with a name": HEALTH.replace(b"gateway", b"u@gateway") + b"\r\n",
    "two hosts and HTTP/1.0": HEALTH.replace(b"/1.1", b"/1.0") + b"host: b\r\n\r\n",
    "a whole URL as target": HEALTH.replace(b"/healthz", b"http://evil.example/healthz") + b"\r\n",
    "a host as target": HEALTH.replace(b"GET /healthz", b"CONNECT gateway:80") + b"\r\n",
    "a star as target": HEALTH.replace(b"GET /healthz", b"OPTIONS *") + b"\r\n",
    "a target that is no path": HEALTH.replace(b"/healthz", b"healthz") + b"\r\n",
    "a space in the target": HEALTH.replace(b"/healthz", b"/health z") + b"\r\n",
    "a version of its own": HEALTH.replace(b"/1.1", b"/1.9") + b"\r\n",
    "two digits of a version": HEALTH.replace(b"/1.1", b"/1.10") + b"\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a method of its own": HEALTH.replace(b"GET", b"G3T") + b"\r\n",
    "HTTP/2 known beforehand": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a header of 100 KB": HEALTH + b"x: " + b"a" * 100_000 + b"\r\n\r\n",
    "a target of 100 KB": HEALTH.replace(b"healthz", b"healthz?" + b"a" * 100_000) + b"\r\n",
    "1,000 headers": HEALTH + b"x: a\r\n" * 1_000 + b"\r\n",
}


async def answers(gateway: Gateway, sent: bytes) -> list[int]:
    """The statuses that come back until the gateway closes, or has nothing more to say."""
    got = b""
    async with RawClient(gateway) as client:
        sending = asyncio.create_task(client.send(sent))
        try:
            async with asyncio.timeout(2):
                while data := await client.read():
                    got += data
                    if b"[DONE]" in got:
                        break
        except TimeoutError:
            got += b"HTTP/1.1 599 open\r\n"
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", got)]


@pytest.mark.attack(
    "request smuggling: two lengths, length and chunks, chunks that only some read as such",
    "400 or a closed connection; what follows is never read as a request",
)
@pytest.mark.parametrize("sent", FRAMED.values(), ids=list(FRAMED))
async def test_a_body_with_two_ends_is_no_request(sent: bytes) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        told = await answers(gateway, sent)

        assert len(told) <= 1
        assert all(400 <= status < 500 for status in told)
        assert agent.connections == 0
        assert (await get(gateway, "/healthz")).status_code == 200


@pytest.mark.attack(
    "a head that some readers take for another: folded lines, bare LF, no host or two, a whole URL",
    "400 or a closed connection",
)
@pytest.mark.parametrize("sent", HEADS.values(), ids=list(HEADS))
async def test_a_head_with_two_meanings_is_no_request(sent: bytes) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        told = await answers(gateway, sent)

        assert told in ([], [400])
        assert agent.connections == 0
        assert (await get(gateway, "/healthz")).status_code == 200


SOUND = {
    "a head of almost 64 KiB": HEALTH + b"x: " + b"a" * (HEAD_BYTES_MAX - 100) + b"\r\n",
    "as many headers as may be": HEALTH + b"x: a\r\n" * (HEADERS_MAX - 2),
    "HTTP/1.0 without a host": b"GET /healthz HTTP/1.0\r\n",
    "an address as host": HEALTH.replace(b"gateway", b"[::1%25lo]:8787"),
    "an empty host": HEALTH.replace(b"gateway", b""),
    "empty lines before it": b"\r\n\r\n" + HEALTH,
}


@pytest.mark.parametrize("sent", SOUND.values(), ids=list(SOUND))
async def test_what_is_merely_rare_is_answered(sent: bytes) -> None:
    async with Gateway() as gateway:
        assert await answers(gateway, sent + b"connection: close\r\n\r\n") == [200]


@pytest.mark.attack(
    "a second request in the body's place of one that has none",
    "each is read for itself, with its own token",
)
async def test_a_request_behind_another_needs_its_own_token() -> None:
    unsigned = re.sub(rb"authorization: [^\r]+\r\n", b"", INNER)
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.send(request(b"{"))
            assert (await client.read()).startswith(b"HTTP/1.1 400 ")
            await client.send(unsigned)
            assert (await client.read()).startswith(b"HTTP/1.1 401 ")

        assert agent.connections == 0


@pytest.mark.attack("nonsense behind an open stream", "the connection is cut; nothing is written")
async def test_nothing_is_written_into_an_open_stream() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.chat()
        got = b""
        while b"Hello" not in got:
            got += await client.read()
        await client.send(b"\x16\x03\x01nonsense\r\n\r\n")
        got += await client.read_all()
        line = await agent.line()
        await until(lambda: line.closed)

    assert got.count(b"HTTP/1.1 ") == 1
    assert len(line.aborts) == 1
