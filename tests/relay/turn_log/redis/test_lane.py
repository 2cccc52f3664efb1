"""Calls of a lane: few pipelines for many of them, a reply to each, none after its end."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import until
from turnwire.relay.turn_log.redis import patience, scripts
from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.servers import Call, Failed, Servers, call_of

pytestmark = pytest.mark.sockets


@pytest.fixture
async def servers(redis: RedisServer) -> AsyncIterator[Servers]:
    servers = Servers(read(redis.url))
    yield servers
    await servers.aclose()


@pytest.fixture
def lane(servers: Servers) -> Lane:
    return Lane(servers)


def note(chat: str, number: str) -> Call:
    return call_of(scripts.REPLY, chat, "t", number, "p", f"of {number}", 60_000)


def noted(chat: str, number: str) -> Call:
    return call_of(scripts.ASK, chat, "t", number)


@pytest.mark.usefixtures("patient")
async def test_each_caller_gets_the_reply_to_its_own_call(lane: Lane) -> None:
    names = [f"c{number}" for number in range(600)]
    await asyncio.gather(*(lane.call(note(name, name)) for name in names))

    replies = await asyncio.gather(*(lane.call(noted(name, name)) for name in names))

    assert replies == [[[0, f"of {name}".encode()]] for name in names]


@pytest.mark.usefixtures("patient")
async def test_what_comes_while_a_pipeline_is_under_way_goes_with_the_next(
    lane: Lane, redis: RedisServer
) -> None:
    await lane.call(noted("c", "1"))
    before = await _reads(redis)

    await asyncio.gather(*(lane.call(noted("c", "1")) for _ in range(200)))

    assert await _reads(redis) - before < 20


async def _reads(redis: RedisServer) -> int:
    """How often Redis read from a connection; `redis-cli` itself makes a few."""
    for line in (await redis.ask("INFO", "stats")).splitlines():
        if line.startswith("total_reads_processed:"):
            return int(line.partition(":")[2])
    raise AssertionError


@pytest.mark.usefixtures("patient")
async def test_a_caller_that_leaves_takes_nothing_from_the_others(lane: Lane) -> None:
    leaving = asyncio.create_task(lane.call(note("c", "1")))
    staying = asyncio.create_task(lane.call(note("c", "2")))
    await asyncio.sleep(0)
    leaving.cancel()

    assert await staying == [[]]
    assert await lane.call(noted("c", "1")) == [[0, b"of 1"]]


async def test_no_caller_waits_for_a_server_that_is_silent(
    lane: Lane, servers: Servers, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patience, "ANSWER_S", 0.1)
    redis.pause()

    replies = await asyncio.gather(*(lane.call(noted("c", "1")) for _ in range(3)))

    assert replies == [Failed("TimeoutError")] * 3
    await until(lambda: servers.is_down("c"))
    assert await lane.call(noted("c", "1")) == Failed("down")


@pytest.mark.usefixtures("patient")
async def test_at_its_end_it_runs_what_waits_and_nothing_later(
    lane: Lane, redis: RedisServer
) -> None:
    for number in range(300):
        lane.send(note("c", str(number)))
    await lane.aclose()
    lane.send(note("c", "late"))

    assert await lane.call(noted("c", "1")) == Failed("down")
    assert lane._running is None
    assert await redis.ask("HLEN", "turnwire:{c}:replies") == "300"


@pytest.mark.usefixtures("patient")
async def test_who_sends_a_call_may_look_for_its_reply_later(lane: Lane) -> None:
    sent = lane.send(noted("c", "1"))
    assert sent is not None
    assert await sent == [[0, b""]]

    await lane.aclose()
    assert lane.send(noted("c", "1")) is None
