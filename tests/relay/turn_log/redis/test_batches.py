"""Many turns in few calls, and that one of them which fails costs no other its reply."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from gateway.redis_server import RedisServer
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.batches import run_all
from turnwire.relay.turn_log.redis.servers import Call, Failed, Servers, call_of

pytestmark = [pytest.mark.sockets, pytest.mark.usefixtures("patient")]

MIB = 1 << 20


@pytest.fixture
async def servers(redis: RedisServer) -> AsyncIterator[Servers]:
    servers = Servers(read(redis.url))
    yield servers
    await servers.aclose()


def find(chat: str, size: int = 0) -> Call:
    return replace(call_of(scripts.FIND, chat, ""), size=size)


def renew(chat: str) -> Call:
    return call_of(scripts.KEEP, chat, "t", 6_000, 6_000)


async def calls(redis: RedisServer) -> int:
    """How many scripts ran so far."""
    found = 0
    for line in (await redis.ask("INFO", "commandstats")).splitlines():
        if line.startswith(("cmdstat_eval:", "cmdstat_evalsha:")):
            found += int(line.partition("calls=")[2].partition(",")[0])
    return found


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([], 0),
        ([find(f"c{number}") for number in range(128)], 1),
        ([find(f"c{number}") for number in range(129)], 2),
        ([find("a"), find("b"), renew("a"), find("c")], 3),
        ([find(f"c{number}", MIB) for number in range(4)], 2),
    ],
    ids=["none", "as many as fit", "one more", "two scripts", "large ones"],
)
async def test_how_many_calls_are_made(
    items: list[Call], expected: int, servers: Servers, redis: RedisServer
) -> None:
    await run_all(servers, [find("a"), renew("a")])  # from here on Redis knows the scripts
    before = await calls(redis)

    replies = await run_all(servers, items)

    assert len(replies) == len(items)
    assert await calls(redis) - before == expected


async def test_each_turn_gets_its_own_reply(servers: Servers, redis: RedisServer) -> None:
    names = [f"c{number}" for number in range(300)]
    for name in names[::50]:
        await redis.ask("HSET", f"turnwire:{{{name}}}:turn", "id", f"turn of {name}")

    replies = await run_all(servers, [find(name) for name in names])

    found = [bytes(reply[0]).decode() if reply else None for reply in replies]
    assert found == [f"turn of {name}" if name in names[::50] else "" for name in names]


async def test_one_turn_that_fails_costs_no_other_its_reply(
    servers: Servers, redis: RedisServer
) -> None:
    await redis.ask("SET", "turnwire:{bad}:turn", "of another type")

    replies = await run_all(servers, [find("a"), find("bad"), find("b")])

    assert [reply is None for reply in replies] == [False, True, False]
    assert not servers.is_down("a")


async def test_without_a_server_there_is_no_reply() -> None:
    servers = Servers(read("redis://127.0.0.1:1"))

    assert await run_all(servers, [find("a"), find("b"), renew("a")]) == [None] * 3
    assert servers.is_down("a")
    await servers.aclose()


async def test_a_call_that_cannot_be_packed_is_one_that_failed(servers: Servers) -> None:
    broken = replace(find("c"), chats=("\ud800",))

    (reply,) = await servers.run([broken])

    assert reply == Failed("UnicodeEncodeError")
