"""Two replicas with one turn log in a Redis: reloads, a replica that dies, and a primary."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import Any

import pytest

from chaos.reloading import CountingTab, Tab, how_it_ended
from chaos.telling_agent import TellingAgent
from gateway.clients import new_client
from gateway.redis_cluster import RedisCluster, WatchedRedis
from gateway.redis_server import RedisServer
from gateway.served import Served

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(300)]

TURNS = 200
IN_TIME_S = 6.0 + 3.0
"""The lease of a process, and what a busy machine adds."""


@asynccontextmanager
async def replicas(agent: TellingAgent, url: str) -> AsyncIterator[list[Served]]:
    given: Any = {"dialect": "ag-ui", "turn_log": url, "on_disconnect": "continue"}
    async with Served(agent.url, **given) as one, Served(agent.url, **given) as other:
        yield [one, other]


@pytest.mark.fault(
    "one of two replicas with a turn log in a Redis is killed while 200 chats reload at random",
    "each gets its own turn, unchanged; those of the killed one are “Stream interrupted” in 6 s",
)
async def test_random_reloads_while_a_replica_dies(tmp_path: Path) -> None:
    dice = Random(20)  # noqa: S311 (a seed, so that a failure can be seen again)
    async with (
        RedisServer(tmp_path) as redis,
        TellingAgent(dice, pieces=40, pause_s=0.05) as agent,
        replicas(agent, redis.url) as gateways,
        new_client() as client,
    ):
        living = list(gateways)
        tabs = [
            (Tab, CountingTab)[number % 3 == 0](number, living, dice) for number in range(TURNS)
        ]
        foreign: list[int] = []

        async def begin(tab: Tab) -> None:
            await asyncio.sleep(dice.uniform(0, 4))
            await tab.talk(client, dice.randrange(4))

        async def ask_for_others() -> None:
            for tab in dice.sample(tabs, TURNS // 10):
                await asyncio.sleep(dice.uniform(0, 0.2))
                foreign.extend(await tab.foreign(client, gateways[0]))

        async with asyncio.timeout(120), asyncio.TaskGroup() as group:
            for tab in tabs:
                group.create_task(begin(tab))
            group.create_task(ask_for_others())
            await asyncio.sleep(3)
            living.pop().signal(SIGKILL)
            killed_at = time.monotonic()

        ends = [how_it_ended(tab, agent) for tab in tabs]
        assert ends.count("complete") > TURNS / 2
        assert ends.count("interrupted") > 5
        assert sum(len(tab.statuses) for tab in tabs) > 2 * TURNS, "they reloaded"
        assert sum(not tab.is_kept for tab in tabs) < TURNS / 10, "a busy machine loses a few"
        for tab, end in zip(tabs, ends, strict=True):
            assert tab.waited_s < IN_TIME_S, "the chat of a lost turn takes a prompt again"
            if end == "interrupted":
                assert tab.verdict_at < max(killed_at + IN_TIME_S, tab.asked_at + 3)
        assert foreign == [404, 204] * (TURNS // 10)


@pytest.mark.fault(
    "the Redis of the turn log is killed under 30 turns of two replicas, and comes back empty",
    "no client notices; later turns are kept again",
)
async def test_a_redis_that_is_killed_and_comes_back(tmp_path: Path) -> None:
    async with RedisServer(tmp_path) as redis:

        async def restart() -> None:
            await redis.kill()
            await asyncio.sleep(1)
            await redis.start()

        await _lives_through(redis.url, restart)


@pytest.mark.fault(
    "a primary of a Redis cluster is killed in mid-turn",
    "no client notices; once a replica has taken over, turns are kept again",
)
async def test_a_primary_of_a_cluster_is_killed(tmp_path: Path) -> None:
    async with RedisCluster(tmp_path) as cluster:
        await _lives_through(cluster.url, cluster.nodes[0].kill)


@pytest.mark.fault(
    "the primary that Sentinels watch is killed in mid-turn",
    "no client notices; once a replica has taken over, turns are kept again",
)
async def test_a_primary_with_sentinels_is_killed(tmp_path: Path) -> None:
    async with WatchedRedis(tmp_path) as watched:
        await _lives_through(watched.url, watched.primary.kill)


async def _lives_through(url: str, harm: Callable[[], Awaitable[None]]) -> None:
    """Do harm in mid-turn. Each prompt's stream is whole; later turns are kept again."""
    dice = Random(7)  # noqa: S311
    async with (
        TellingAgent(dice, pieces=40, pause_s=0.05) as agent,
        replicas(agent, url) as gateways,
        new_client() as client,
    ):
        tabs = [Tab(number, gateways, dice) for number in range(30)]
        async with asyncio.TaskGroup() as group:
            for tab in tabs:
                group.create_task(tab.talk(client, 0))
            await asyncio.sleep(1)
            assert all(tab.is_kept for tab in tabs)
            await harm()
        assert [how_it_ended(tab, agent) for tab in tabs] == ["complete"] * 30
        assert [tab.statuses for tab in tabs] == [[200]] * 30, "no stream was cut"

        async with asyncio.timeout(30):
            for first in range(100, 100_000, 12):
                later = [Tab(number, gateways, dice) for number in range(first, first + 12)]
                await asyncio.gather(*(tab.talk(client, 1) for tab in later))
                if all(tab.is_kept for tab in later):
                    break
        assert [how_it_ended(tab, agent) for tab in later] == ["complete"] * 12
