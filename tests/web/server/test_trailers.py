"""What stands between and behind the pieces of a chunked body: bounded, and no header."""

import asyncio
import contextlib
import gc
import json
import socket
import struct

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import RawClient, ask
from gateway.running import Gateway
from gateway.tokens import token
from gateway.waiting import until
from turnwire.web.server import server
from turnwire.web.server.http_protocol import HttpConnection
from turnwire.web.server.request_head import HEAD_BYTES_MAX

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

HEAD = (
    b"POST /api/sessions/s1/chat HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
    b"transfer-encoding: chunked\r\n"
)
AUTHORIZED = b"authorization: Bearer %b\r\n"


async def received(client: RawClient, ending: bytes) -> bytes:
    """What comes, up to this; or all there is."""
    got = b""
    while ending not in got and (data := await client.read()):
        got += data
    return got


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@pytest.mark.attack(
    "trailers that a proxy would remove if they were headers", "they do not count as headers"
)
@pytest.mark.parametrize("apart", [False, True])
async def test_a_trailer_is_no_header(*, apart: bool) -> None:
    body = chunk(json.dumps(ask()).encode())
    trailers = b"0\r\n" + AUTHORIZED % token().encode() + b"x-request-id: mine\r\n\r\n"
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(HEAD + b"\r\n" + body + (b"" if apart else trailers))
        if apart:
            await client.send(trailers)
        said = await received(client, b"}")

    assert said.startswith(b"HTTP/1.1 401 ")
    assert b"mine" not in said


@pytest.mark.attack("trailers without end", "the connection is cut, nothing is kept")
@pytest.mark.parametrize("many", [b"a:\r\n" * 4096, b"a" * 16_384], ids=["many", "one"])
@pytest.mark.parametrize("head", [HEAD, HEAD + b"authorization: Bearer no\r\n"])
async def test_trailers_without_end_are_cut(head: bytes, many: bytes) -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(head + b"\r\n" + chunk(b"{") + b"0\r\n")
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 100 * HEAD_BYTES_MAX:
                await client.send(many)
                sent += len(many)
                await asyncio.sleep(0.001)

    # What the kernel's buffers took beside.
    assert sent < 50 * HEAD_BYTES_MAX


@pytest.mark.attack("chunk sizes with endless extensions", "400, and the connection is closed")
async def test_a_chunks_endless_extension_is_refused() -> None:
    allowed = HEAD + AUTHORIZED % token().encode()
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(allowed + b"\r\n" + chunk(b"{") + b"1;")
        await until(lambda: gateway.server.server_state.tasks)
        await client.send(b"a" * (HEAD_BYTES_MAX + 1))
        said = await client.read_all()

    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"between the pieces" in said


async def test_a_body_of_many_small_pieces_is_taken() -> None:
    body = json.dumps(ask("x" * 70_000)).encode()
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(HEAD + AUTHORIZED % token().encode() + b"\r\n")
        for at in range(0, len(body), 1000):  # in reads of their own, as far as may be
            await client.send(
                b"".join(chunk(body[n : n + 1]) for n in range(at, min(at + 1000, len(body))))
            )
            await asyncio.sleep(0)
        await client.send(b"0\r\n\r\n")
        said = await received(client, b"[DONE]")

    assert said.startswith(b"HTTP/1.1 200 ")


@pytest.mark.attack(
    "a body of one-byte chunks, with a token or without",
    "cut off at 200,000 pieces: each costs as much as a long one",
)
@pytest.mark.parametrize("is_known", [True, False])
async def test_a_body_of_too_many_pieces_is_cut(*, is_known: bool) -> None:
    head = HEAD + (AUTHORIZED % token().encode() if is_known else b"")
    pieces = chunk(b" ") * 10_000
    async with Gateway() as gateway, RawClient(gateway) as client:
        hearing = asyncio.create_task(client.read_all())
        await client.send(head + b"\r\n")
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 5_000_000 and not hearing.done():
                await client.send(pieces)
                sent += 10_000
                await asyncio.sleep(0)
        said = await hearing

    assert sent < 5_000_000
    assert is_known or said.startswith(b"HTTP/1.1 401 ")


async def test_requests_of_one_connection_are_not_counted_together() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        for _ in range(3):
            await client.send(
                b"GET /healthz HTTP/1.1\r\nhost: a\r\nx: %b\r\n\r\n" % (b"a" * 30_000)
            )
            assert (await received(client, b"ok")).startswith(b"HTTP/1.1 200 ")
        await client.send(HEAD + b"\r\n")
        await client.send(chunk(b"{}") + b"0\r\n\r\n")
        assert (await received(client, b"}")).startswith(b"HTTP/1.1 401 ")


@pytest.mark.attack("connections reset between requests", "nothing is kept of them")
async def test_a_connection_that_was_reset_is_not_kept() -> None:
    async with Gateway() as gateway:
        for _ in range(20):
            reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port)
            writer.write(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
            await reader.readuntil(b"\r\n\r\n")
            lingering = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, lingering
            )
            writer.transport.abort()
        await until(lambda: not gateway.server.server_state.connections)
        gc.collect()
        left = [each for each in gc.get_objects() if isinstance(each, HttpConnection)]

    assert len(left) < 20


async def test_a_head_request_does_not_open_a_stream() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(
            b"HEAD /api/sessions/s1/chat/c1/stream HTTP/1.1\r\nhost: a\r\n"
            + AUTHORIZED % token().encode()
            + b"\r\n"
        )
        assert (await received(client, b"\r\n\r\n")).startswith(b"HTTP/1.1 405 ")
        await client.send(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n")
        assert (await received(client, b"ok")).startswith(b"HTTP/1.1 200 ")


async def test_clients_are_looked_after_while_it_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = 0

    def noted(_: HttpConnection, __: float, ___: float) -> None:
        nonlocal looks
        looks += 1

    monkeypatch.setattr(server, "_CHECK_TICKS", 1)
    async with Gateway(lameduck_s=5) as gateway, RawClient(gateway):
        await until(lambda: gateway.server.server_state.connections)
        gateway.stop()
        await until(lambda: gateway.server.should_exit and not gateway.health.is_ready)
        monkeypatch.setattr(HttpConnection, "check_client", noted)
        await until(lambda: looks > 2)
        gateway.stop()
        await gateway.stopped()
