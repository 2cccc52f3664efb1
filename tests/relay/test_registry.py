"""Open streams have a limit for each user and one for the process."""

import asyncio

import pytest

from gateway.agent import ScriptedAgent, begin_only
from gateway.clients import chatting, is_whole, post
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.errors import TooManyStreams, Unavailable
from turnwire.relay.registry import RequestRegistry

pytestmark = pytest.mark.sockets


@pytest.mark.fault("one user opens too many streams", "429; other users are served")
@pytest.mark.attack("one user opens very many streams", "429 at the limit; others are served")
async def test_a_user_with_too_many_streams_gets_429_and_others_are_served() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), max_streams_per_user=1, idle_s=30) as gateway,
    ):
        async with chatting(gateway, user="u1") as first:
            await first.sees("Hello")
            refused = await post(gateway, user="u1")
            async with chatting(gateway, user="u2") as other:
                await other.sees("Hello")
            assert agent.connections == 2
        await until(lambda: len(gateway.streams) == 0)
        async with chatting(gateway, user="u1") as again:
            await again.sees("Hello")

    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "5"
    assert refused.json()["code"] == "too_many_streams"


@pytest.mark.fault("too many streams are open", "503 with `Retry-After`")
@pytest.mark.attack("many users open very many streams", "503 with `Retry-After` at the limit")
async def test_a_process_with_too_many_streams_answers_503_to_everybody() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), max_streams=2, max_streams_per_user=0) as gateway,
        chatting(gateway) as first,
        chatting(gateway, user="u2") as second,
    ):
        await asyncio.gather(first.sees("Hello"), second.sees("Hello"))
        refused = await post(gateway, user="u3")

        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "5"
        assert agent.connections == 2


async def test_every_way_to_end_gives_the_place_back() -> None:
    async with (
        ScriptedAgent(status=401) as refusing,
        Gateway(refusing.url(), max_streams=1) as gateway,
    ):
        for _ in range(3):
            assert (await post(gateway)).status_code == 401

    async with ScriptedAgent() as agent, Gateway(agent.url(), max_streams=1) as gateway:
        for _ in range(3):
            assert is_whole((await post(gateway)).text)
            await until(lambda: len(gateway.streams) == 0)


def test_without_limits_there_are_none() -> None:
    streams = RequestRegistry(most=0, most_per_user=0)
    places = [streams.slot("u1") for _ in range(50)]
    for place in places:
        place.__enter__()

    assert len(streams) == 50

    for place in places:
        place.__exit__(None, None, None)
    assert len(streams) == 0
    assert not streams._slots_of_user


def test_the_limit_of_the_process_comes_before_that_of_the_user() -> None:
    streams = RequestRegistry(most=1, most_per_user=1)
    with streams.slot("u1"), pytest.raises(Unavailable), streams.slot("u1"):
        pass
    both = RequestRegistry(most=2, most_per_user=1)
    with both.slot("u1"), pytest.raises(TooManyStreams), both.slot("u1"):
        pass
    assert len(both) == 0


class _Drained:
    def __init__(self) -> None:
        self.times = 0

    def drain(self) -> None:
        self.times += 1


def test_an_open_stream_hears_of_the_drain_and_no_other_begins() -> None:
    streams = RequestRegistry(most=0, most_per_user=0)
    before, after, over = _Drained(), _Drained(), _Drained()
    with streams.register(over):
        pass
    with streams.register(before):
        streams.drain()
        with pytest.raises(Unavailable), streams.register(after):
            pass

    assert (before.times, after.times, over.times) == (1, 0, 0)
