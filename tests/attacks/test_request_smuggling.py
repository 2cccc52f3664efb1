"""Requests that a proxy and a server may read differently. None is read as two."""

import asyncio
import re

import pytest

from attacks.smuggled import BODY, HEADS, HEALTH, framed
from gateway.agent import ScriptedAgent, begin_only
from gateway.clients import RawClient, get, request
from gateway.running import Gateway
from gateway.waiting import PATIENCE_S, until
from turnwire.web.server.request_head import HEAD_BYTES_MAX, HEADERS_MAX

pytestmark = pytest.mark.sockets

INNER = request(BODY)
"""A good prompt."""
FRAMED = framed(INNER)


async def answers(gateway: Gateway, sent: bytes) -> list[int]:
    """The statuses that come back until the gateway closes, or has nothing more to say."""
    got = b""
    async with RawClient(gateway) as client:
        sending = asyncio.create_task(client.send(sent))
        try:
            async with asyncio.timeout(PATIENCE_S):
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
    "request smuggling: two lengths, length and chunks, chunks that only some servers read as "
    "chunks",
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
    "a head that servers read in different ways: folded lines, bare LF, no host or two, a whole "
    "URL",
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
    "a second request where the body of the first would be",
    "each is read separately, with its own token",
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


@pytest.mark.attack(
    "bytes that are no request behind an open stream", "the connection is cut; nothing is written"
)
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
