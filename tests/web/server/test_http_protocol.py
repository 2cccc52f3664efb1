"""What comes on one connection is read as the requests that its client made of it."""

import asyncio
import contextlib
import json
import socket
from typing import Self

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask
from gateway.running import Gateway
from gateway.tokens import token
from gateway.waiting import until
from turnwire.web.server.http_protocol import HttpConnection

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

HEALTH = b"GET /healthz HTTP/1.1\r\nhost: a\r\n"

H2C = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n"
"""What Java's own client adds to the first request."""
WEBSOCKET = b"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"


class Connection:
    """A client that writes bytes, and notes all that comes back."""

    def __init__(self, port: int) -> None:
        self.heard = b""
        self.is_over = False
        self._port = port

    async def write(self, data: bytes) -> None:
        """In packets of their own."""
        self._writer.write(data)
        await self._writer.drain()

    @property
    def answers(self) -> int:
        return self.heard.count(b"HTTP/1.1 ")

    async def has_ended(self, ending: bytes) -> str:
        await until(lambda: self.heard.endswith(ending) or self.is_over)
        return self.heard.decode()

    async def __aenter__(self) -> Self:
        reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reading = asyncio.create_task(self._read(reader))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()
        await self._reading

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                self.heard += data
        self.is_over = True


def prompting(more: bytes, *, chunked: bool = False) -> tuple[bytes, bytes]:
    """The head and the body of a prompt."""
    body = json.dumps(ask()).encode()
    length = b"content-length: %d" % len(body)
    if chunked:
        length, body = b"transfer-encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    head = (
        b"POST /api/sessions/s1/chat HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
        b"authorization: Bearer %b\r\n%b%b\r\n\r\n" % (token().encode(), more, length)
    )
    return head, body


@pytest.mark.parametrize("more", [b"", H2C, WEBSOCKET], ids=["none", "h2c", "websocket"])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("apart", [False, True])
async def test_an_upgrade_that_is_asked_for_is_ignored(
    more: bytes,
    chunked: bool,  # noqa: FBT001
    apart: bool,  # noqa: FBT001
) -> None:
    head, body = prompting(more, chunked=chunked)
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        Connection(gateway.port) as client,
    ):
        if apart:
            await client.write(head)
            await until(lambda: gateway.counted("turnwire_requests_total", route="chat") == 1)
            await client.write(body)
        else:
            await client.write(head + body)
        told = await client.has_ended(b"\r\n0\r\n\r\n")
        assert told.startswith("HTTP/1.1 200 OK")
        assert "data: [DONE]" in told

        await client.write(HEALTH + b"\r\n")
        await client.has_ended(b"ok\n")

    assert client.answers == 2


@pytest.mark.attack(
    "a request in the body of a request that asks for another protocol (`Upgrade`)",
    "the upgrade is ignored, and the body is read as a body",
)
async def test_the_body_of_a_refused_upgrade_is_no_request() -> None:
    inner = HEALTH + b"x: smuggled\r\n\r\n"
    head = b"POST /api/sessions/s1/chat HTTP/1.1\r\nhost: a\r\n%bcontent-length: %d\r\n\r\n"
    async with Gateway() as gateway, Connection(gateway.port) as client:
        await client.write(head % (WEBSOCKET, len(inner)))
        await until(lambda: client.answers == 1)
        await client.write(inner)
        await client.write(b"GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n")
        await client.has_ended(b"ready\n")

    assert client.heard.startswith(b"HTTP/1.1 401 ")
    assert client.answers == 2


async def test_a_head_that_asks_for_an_upgrade_may_come_in_pieces() -> None:
    async with Gateway() as gateway, Connection(gateway.port) as client:
        for byte in HEALTH + WEBSOCKET + b"\r\n":
            await client.write(bytes([byte]))
            await asyncio.sleep(0)
        await client.has_ended(b"ok\n")

    assert client.heard.startswith(b"HTTP/1.1 200 OK")


async def test_requests_behind_an_upgrade_are_as_behind_any_other() -> None:
    async with Gateway() as gateway, Connection(gateway.port) as client:
        await client.write((HEALTH + H2C + b"\r\n") * 3_000)
        await until(lambda: client.is_over)

    assert client.answers == 0


@pytest.mark.parametrize("target", [b"a:80", b"/healthz"])
async def test_a_tunnel_is_refused(target: bytes) -> None:
    async with Gateway() as gateway, Connection(gateway.port) as client:
        await client.write(b"CONNECT %b HTTP/1.1\r\nhost: a\r\n\r\n" % target)
        await until(lambda: client.is_over)

    assert client.heard.startswith(b"HTTP/1.1 400 ")
    assert client.answers == 1


async def test_the_end_of_a_refused_body_is_not_counted_to_the_next_head() -> None:
    head = b"POST /api/sessions/s1/chat HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n"
    async with Gateway() as gateway, Connection(gateway.port) as client:
        await client.write(head)
        await until(lambda: client.answers == 1)
        (connection,) = gateway.server.server_state.connections
        assert isinstance(connection, HttpConnection)
        connection.data_received(b"x" * 100_000 + HEALTH)  # in one read, as it may come
        await client.write(b"\r\n")
        await client.has_ended(b"ok\n")

    assert client.heard.startswith(b"HTTP/1.1 401 ")
    assert b"HTTP/1.1 200 OK" in client.heard
