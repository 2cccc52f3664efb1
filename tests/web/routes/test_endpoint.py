"""Requests that are refused by the real server, where one may be stranger than any table says."""

import asyncio

import pytest

from gateway import refusals
from gateway.agent import ScriptedAgent
from gateway.clients import RawClient, request
from gateway.refusals import Refusal, every
from gateway.running import Gateway

pytestmark = pytest.mark.sockets


def _wire(refusal: Refusal) -> bytes:
    target = refusal.path + (f"?{refusal.query}" if refusal.query else "")
    lines = [f"{refusal.method} {target} HTTP/1.1", "host: gateway", "connection: close"]
    lines += [f"{name}: {value}" for name, value in refusals.headers(refusal)]
    return "\r\n".join([*lines, "", ""]).encode() + refusal.body


async def _status(client: RawClient) -> int:
    head = await client.read()
    return int(head.split(b" ")[1]) if head else 0


async def test_no_refused_request_opens_a_connection_to_the_agent() -> None:
    wrong: list[tuple[str, int]] = []
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        for refusal in every():
            if refusal.status == 413:
                continue
            async with RawClient(gateway) as client:
                await client.send(_wire(refusal))
                status = await _status(client)
                if status != refusal.status:
                    wrong.append((refusal.name, status))

        assert wrong == []
        assert agent.connections == 0


async def test_a_body_of_17_mib_is_refused_though_it_is_still_coming() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            sending = asyncio.create_task(client.send(_wire(refusals.TOO_LARGE[0])))
            assert await _status(client) == 413
            sending.cancel()

        assert agent.connections == 0


async def test_a_chunked_body_of_17_mib_is_refused_when_it_is_too_long() -> None:
    head = request(headers={"content-length": "", "transfer-encoding": "chunked"})
    piece = b"100000\r\n" + b" " * 1_048_576 + b"\r\n"
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            sending = asyncio.create_task(client.send(head + piece * 17 + b"0\r\n\r\n"))
            assert await _status(client) == 413
            sending.cancel()

        assert agent.connections == 0


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", id="TLS"),
        pytest.param(b"GET / SPDY/3\r\n\r\n", id="another protocol"),
        pytest.param(
            request(b"x", headers={"transfer-encoding": "chunked"}), id="two lengths of a body"
        ),
        pytest.param(
            b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            id="two content-lengths",
        ),
        pytest.param(b"GET /\r\n evil HTTP/1.1\r\n\r\n", id="a line break in the target"),
    ],
)
@pytest.mark.attack("TLS, SPDY and two lengths on the plain port", "400")
async def test_what_is_no_sound_http_never_reaches_the_application(sent: bytes) -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.send(sent)
            assert await _status(client) == 400

        assert agent.connections == 0


async def test_a_connection_that_says_nothing_costs_no_stream() -> None:
    async with Gateway(max_streams=1) as gateway, RawClient(gateway) as client:
        await client.send(request()[:40])
        async with RawClient(gateway) as another:
            await another.send(request(b"{}"))
            assert await _status(another) == 400

        assert len(gateway.streams) == 0
