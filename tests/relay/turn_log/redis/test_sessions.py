"""Which of the agent's sessions belongs to which chat, in Redis."""

import asyncio

import msgspec
import pytest

from gateway.redis_server import RedisServer
from relay.turn_log.redis.rig import CHAT, OTHER, Rig, new_rig
from turnwire.core.turn_log.entries import frame
from turnwire.relay.turn_log.redis import sessions as sessions_module
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.servers import Call, Failed, Reply
from turnwire.relay.turn_log.redis.sessions import RedisSessions

pytestmark = pytest.mark.sockets


async def test_which_session_of_the_agent_is_that_of_a_chat_is_known_to_all(
    rig: Rig, redis: RedisServer
) -> None:
    one, other = rig.logs
    one.keep_session(CHAT, "session-1")

    assert (await one.session(CHAT), await other.session(CHAT)) == ("session-1", "session-1")
    assert await one.session(OTHER) is None
    left = int(await redis.ask("PTTL", "turnwire:{chat}:session"))
    assert 0 < left <= 2_592_000_000


async def test_without_a_redis_a_process_knows_the_sessions_that_it_used() -> None:
    async with new_rig("redis://127.0.0.1:1") as rig:
        one, other = rig.logs
        one.keep_session(CHAT, "session-1")

        assert (await one.session(CHAT), await other.session(CHAT)) == ("session-1", None)
        one.forget_session(CHAT)
        assert await one.session(CHAT) is None


async def test_a_session_that_is_forgotten_is_so_for_all(rig: Rig) -> None:
    one, other = rig.logs
    one.keep_session(CHAT, "session-1")
    assert await one.session(CHAT) == "session-1"
    other.forget_session(CHAT)
    assert await other.session(CHAT) is None

    assert (await one.session(CHAT), await other.session(CHAT)) == (None, None)


class Pipe(Lane):
    """A Redis that may be down, without a socket. `lags`: it takes a write, and does not reply."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.is_down = self.lags = self.is_stuck = False

    async def call(self, call: Call) -> Reply:
        if self.is_stuck:  # so what was sent before is over first
            await asyncio.sleep(0)
        return Failed("down") if self.is_down else [[self.kept.get(call.chats[0], b"")]]

    def send(self, call: Call) -> "asyncio.Future[Reply] | None":
        if self.is_down:
            return None
        reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        if self.lags:
            reply.set_result(Failed("TimeoutError"))
        else:
            self.kept[call.chats[0]] = str(
                msgspec.msgpack.decode(frame(call.values, call.count))[2]
            ).encode()
            reply.set_result([[]])
        return reply


@pytest.mark.parametrize("trouble", ["is_down", "lags"])
async def test_what_redis_did_not_get_counts_and_is_sent_again(trouble: str) -> None:
    pipe = Pipe()
    sessions = RedisSessions(pipe, 60)
    sessions.keep(CHAT, "old")
    await asyncio.sleep(0)
    setattr(pipe, trouble, True)
    sessions.keep(CHAT, "new")
    await asyncio.sleep(0)
    assert pipe.kept == {CHAT: b"old"}

    setattr(pipe, trouble, False)
    assert await sessions.find(CHAT) == "new"
    await asyncio.sleep(0)
    assert pipe.kept == {CHAT: b"new"}

    pipe.kept[CHAT] = b"of another process"
    assert await sessions.find(CHAT) == "of another process"


async def test_a_session_that_was_forgotten_meanwhile_stays_so() -> None:
    pipe = Pipe()
    sessions = RedisSessions(pipe, 60)
    sessions.keep(CHAT, "old")
    pipe.is_down = True
    sessions.forget(CHAT)
    pipe.is_down = False

    assert (await sessions.find(CHAT), await sessions.find(OTHER)) == (None, None)


async def test_a_write_that_is_lost_while_it_is_under_way_counts() -> None:
    pipe = Pipe()
    pipe.lags = True
    sessions = RedisSessions(pipe, 60)
    sessions.keep(CHAT, "new")
    pipe.is_stuck = True

    assert await sessions.find(CHAT) == "new"


async def test_an_earlier_write_that_is_lost_is_none_of_the_last() -> None:
    pipe = Pipe()
    sessions = RedisSessions(pipe, 60)
    pipe.lags = True
    sessions.keep(CHAT, "old")
    pipe.lags = False
    sessions.keep(CHAT, "new")
    await asyncio.sleep(0)
    pipe.kept[CHAT] = b"of another process"

    assert await sessions.find(CHAT) == "of another process"


async def test_an_earlier_write_confirms_no_later_one() -> None:
    pipe = Pipe()
    sessions = RedisSessions(pipe, 60)
    sessions.keep(CHAT, "old")
    pipe.is_down = True
    sessions.keep(CHAT, "new")
    await asyncio.sleep(0)
    pipe.is_down = False

    assert await sessions.find(CHAT) == "new"


async def test_of_very_many_the_oldest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions_module, "LOST_MAX", 1)
    pipe = Pipe()
    pipe.is_down = True
    sessions = RedisSessions(pipe, 60)
    sessions.keep(CHAT, "one")
    sessions.keep(OTHER, "two")
    pipe.is_down = False

    assert (await sessions.find(CHAT), await sessions.find(OTHER)) == (None, "two")
