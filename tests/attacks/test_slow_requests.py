"""Slowloris: a connection that says nothing, too little or too much is not kept."""

import asyncio

import pytest

from gateway.agent import ScriptedAgent, begin_only
from gateway.clients import RawClient, request
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.web.server import http_protocol
from turnwire.web.server.http_protocol import HttpConnection

pytestmark = pytest.mark.sockets

HEALTH = request(path="/healthz", method="GET")
SHORT_S = 0.15


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HttpConnection, "head_s", SHORT_S)


@pytest.mark.attack(
    "slow headers: nothing, an empty line, half a line, half a head",
    "the connection is closed ten seconds after it was opened",
)
@pytest.mark.parametrize(
    "sent", [b"", b"\r\n", b"G", b"GET /healthz HTTP/1.1\r\nhost: x\r\n", HEALTH[:-2]]
)
async def test_a_head_has_its_time(sent: bytes) -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(sent)

        assert await client.read_all() == b""


@pytest.mark.attack("a head, sent one byte at a time", "no byte extends its time")
async def test_a_byte_at_a_time_gives_no_more_of_it() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        closed = asyncio.create_task(client.read_all())
        sent = 0
        while not closed.done():
            try:
                await client.send(b"GET /healthz?" if sent == 0 else b"a")
            except OSError:
                break
            sent += 1
            await asyncio.sleep(SHORT_S / 10)

        assert await closed == b""
        assert sent < 100


@pytest.mark.attack("slow headers of a second request on a connection", "they have ten seconds too")
async def test_a_second_head_has_its_time_too() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(HEALTH)
        assert b"200 OK" in await client.read()
        await client.send(HEALTH[:-2])

        assert b"200 OK" not in await client.read_all()


async def test_between_two_requests_there_is_more_time() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        for _ in range(3):
            await client.send(HEALTH)
            assert b"200 OK" in await client.read()
            await until(lambda: _timed(gateway))


async def test_a_stream_has_all_the_time_it_wants() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), keepalive_s=1) as gateway,
        RawClient(gateway) as client,
    ):
        await client.chat()
        got = b""
        while b": keepalive" not in got.partition(b"Hello")[2]:
            got += await client.read()

        assert len(gateway.streams) == 1
    assert got


@pytest.mark.attack(
    "idle connections, kept open by an empty line now and then or by a refused body",
    "they are closed like other idle connections; a refused body has thirty seconds",
)
async def test_an_empty_line_stops_no_clock() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(HEALTH)
        await client.read()
        connection = _connection(gateway)
        await client.send(b"\r\n\r\n")
        await until(lambda: connection.timeout_keep_alive_task is not None)
        connection.timeout_keep_alive = 0
        await client.send(b"\r\n")

        assert await client.read_all() == b""


async def test_the_rest_of_a_refused_body_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_protocol, "BODY_S", SHORT_S)
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(request(headers={"content-length": "1000", "authorization": ""}))
        assert b"HTTP/1.1 401 " in await client.read()
        await client.send(b"a" * 10)

        assert await client.read_all() == b""


async def test_a_connection_whose_refused_body_came_goes_on() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        for _ in range(2):
            await client.send(request(headers={"content-length": "10", "authorization": ""}))
            assert b"HTTP/1.1 401 " in await client.read()
            await client.send(b"a" * 10)
            await until(lambda: _timed(gateway))


def _connection(gateway: Gateway) -> HttpConnection:
    (connection,) = gateway.server.server_state.connections
    assert isinstance(connection, HttpConnection)
    return connection


def _timed(gateway: Gateway) -> bool:
    connection = _connection(gateway)
    return connection._timeout is None and connection.timeout_keep_alive_task is not None
