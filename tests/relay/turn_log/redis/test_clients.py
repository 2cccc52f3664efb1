"""What is sent: the bytes that the library would send. And on which connection."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from redis.asyncio import Connection
from redis.exceptions import MaxConnectionsError, ResponseError

from gateway.redis_server import RedisServer
from gateway.waiting import until
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.batches import _joined
from turnwire.relay.turn_log.redis.clients import Packed, _Server, new_client, packed
from turnwire.relay.turn_log.redis.servers import Call, Servers, call_of


@pytest.mark.parametrize(
    "call",
    [
        call_of(scripts.FIND, "chat", ""),
        call_of(scripts.SEND, "ch\xe4t", "t", "1", b"\xff\r\n" * 9_000, 60_000),
        _joined([call_of(scripts.APPEND, chat, "t", 7, b"", -7) for chat in "aba"]),
    ],
)
async def test_a_call_is_the_bytes_that_the_library_would_send(call: Call) -> None:
    one, many = (Servers(read(f"{kind}://127.0.0.1:6379")) for kind in ("redis+cluster", "redis"))
    try:
        plain, packed = (servers._command("EVALSHA", call) for servers in (one, many))
    finally:
        await one.aclose()
        await many.aclose()

    assert isinstance(packed, Packed)
    assert not isinstance(plain, Packed)
    assert packed.data == b"".join(Connection().pack_command(*plain))


PING: Final = Packed(b"*1\r\n$4\r\nPING\r\n")
ID: Final = Packed(b"*2\r\n$6\r\nCLIENT\r\n$2\r\nID\r\n")
WRONG: Final = Packed(b"*2\r\n$4\r\nLPOP\r\n$1\r\nx\r\n")


@pytest.fixture
async def client(redis: RedisServer) -> AsyncIterator[_Server]:
    client = new_client(read(redis.url))
    assert isinstance(client, _Server)
    yield client
    await client.aclose()


def echo(word: bytes) -> Packed:
    return Packed(b"*2\r\n$4\r\nECHO\r\n" + packed(word))


async def test_calls_one_after_another_share_a_connection(client: _Server) -> None:
    found = [await client.run([ID, PING]) for _ in range(3)]

    assert found == [[found[0][0], b"PONG"]] * 3


async def test_calls_at_once_have_connections_of_their_own(client: _Server) -> None:
    words = [b"%d" % number for number in range(20)]
    replies = await asyncio.gather(*(client.run([echo(word)]) for word in words))

    assert replies == [[word] for word in words]


async def test_an_error_is_the_reply_to_its_own_command(
    client: _Server, redis: RedisServer
) -> None:
    await redis.ask("SET", "x", "a string")
    first, second, third = await client.run([ID, WRONG, echo(b"a")])

    assert third == b"a"
    assert isinstance(second, ResponseError)
    assert await client.run([echo(b"b"), ID]) == [b"b", first]


async def test_a_connection_that_the_server_closed_is_not_used_again(
    client: _Server, redis: RedisServer
) -> None:
    await client.run([PING])
    await redis.ask("CLIENT", "KILL", "TYPE", "normal")
    (connection,) = client._free
    reader: Any = connection._reader
    await until(reader.at_eof)

    assert await client.run([echo(b"a")]) == [b"a"]


async def test_a_call_that_was_given_up_leaves_no_reply_to_the_next_one(
    client: _Server, redis: RedisServer
) -> None:
    await client.run([PING])
    redis.pause()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.run([echo(b"late")])
    redis.unpause()

    assert await client.run([echo(b"next")]) == [b"next"]


async def test_after_a_failure_no_connection_is_used_that_was_there_before(
    client: _Server, redis: RedisServer
) -> None:
    """Those of a primary that another one replaced would fail one by one."""
    await asyncio.gather(*(client.run([PING]) for _ in range(4)))
    before = list(client._free)
    await failed(client, redis)

    assert len(before) == 4
    assert not any(each.is_connected for each in before)
    assert await client.run([PING]) == [b"PONG"]


async def failed(client: _Server, redis: RedisServer) -> None:
    """A call that was given up."""
    redis.pause()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await client.run([PING])
    redis.unpause()


async def test_a_pool_without_room_for_more_recovers(redis: RedisServer) -> None:
    client = new_client(read(f"{redis.url}?max_connections=1"))
    assert isinstance(client, _Server)
    try:
        for _ in range(3):
            await failed(client, redis)
            await client.ping("")
            assert await client.run([PING]) == [b"PONG"]
        calls = (client.run([PING]), client.run([PING]))
        found: list[object] = list(await asyncio.gather(*calls, return_exceptions=True))
        assert found[0] == [b"PONG"]
        assert isinstance(found[1], MaxConnectionsError)
        await client.ping("")
        assert await client.run([PING]) == [b"PONG"]
    finally:
        await client.aclose()


async def test_no_call_asks_for_no_server() -> None:
    servers = Servers(read("redis://127.0.0.1:1"))
    try:
        assert await servers.run([]) == []
        assert not servers.is_down("chat")
    finally:
        await servers.aclose()
