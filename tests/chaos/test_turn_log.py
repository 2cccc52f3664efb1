"""Two replicas with one turn log in a Redis: reloads, a replica that dies, and a primary."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from signal import SIGKILL
from typing import Any

import httpx
import pytest

from chaos.telling_agent import TellingAgent
from gateway.clients import ask, errors, is_whole, new_client, said
from gateway.redis_cluster import RedisCluster, WatchedRedis
from gateway.redis_server import RedisServer
from gateway.served import Served
from gateway.tokens import bearer

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(300)]

TURNS = 200
INTERRUPTED = ["Stream interrupted"]


@asynccontextmanager
async def replicas(agent: TellingAgent, url: str) -> AsyncIterator[list[Served]]:
    given: Any = {"dialect": "ag-ui", "turn_log": url, "on_disconnect": "continue"}
    async with Served(agent.url, **given) as one, Served(agent.url, **given) as other:
        yield [one, other]


class Tab:
    """One chat in a browser, which reloads the page now and then, at any replica that lives."""

    def __init__(self, session: str, living: Sequence[Served], dice: Random) -> None:
        self.session = session
        self.body = b""
        """Of the last response."""
        self.statuses: list[int] = []
        self.is_kept = True
        self._living = living
        self._dice = dice

    async def talk(self, client: httpx.AsyncClient, reloads: int) -> None:
        """Send a prompt, reload so many times in mid-turn, and read the last one to its end."""
        status = 0
        while status != 200:  # a replica may die before it answers, and its chat is free later
            status = await self._read(client, "POST", "chat", reloads, json=ask("hi"))
            await asyncio.sleep(0.1)
        while reloads or not is_whole(self.body):
            reloads = max(0, reloads - 1)
            if await self._read(client, "GET", "chat/c/stream", reloads) == 204:
                return  # the page had all of it

    async def _read(
        self, client: httpx.AsyncClient, method: str, route: str, reloads: int, **more: Any
    ) -> int:
        """Read a response, for a while if reloads are to come. Returns its status, or 0."""
        url = f"{self._dice.choice(self._living).url}/api/sessions/{self.session}/{route}"
        headers = bearer(f"user-{self.session}")
        for_s = self._dice.uniform(0, 0.6) if reloads else None
        status = 0
        try:
            async with client.stream(method, url, headers=headers, **more) as response:
                status = response.status_code
                self.is_kept &= response.headers.get("x-turnwire-resume") != "no"
                if status == 200:
                    self.body = b""
                    async with asyncio.timeout(for_s):
                        async for data in response.aiter_raw():
                            self.body += data
        except (TimeoutError, httpx.TransportError):
            pass
        self.statuses.append(status)
        return status


def is_right(tab: Tab, agent: TellingAgent) -> str:
    """What the tab shows in the end. It must be a part of what the agent said, or all of it."""
    text, whole = said(tab.body), agent.texts.get(tab.session, "")
    assert whole.startswith(text), f"{tab.session} shows {text!r}"
    assert is_whole(tab.body), (tab.session, tab.statuses, tab.body[-300:])
    if errors(tab.body):
        assert errors(tab.body) == INTERRUPTED
        return "interrupted"
    assert text == whole
    return "complete"


@pytest.mark.fault(
    "one of two replicas with a turn log in a Redis is killed while 200 chats reload at random",
    "each gets its own turn, as it was said; those of the killed one end with “Stream interrupted”",
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
        tabs = [Tab(f"s{number}", living, dice) for number in range(TURNS)]

        async def begin(tab: Tab) -> None:
            await asyncio.sleep(dice.uniform(0, 4))
            await tab.talk(client, dice.randrange(4))

        async with asyncio.TaskGroup() as group:
            for tab in tabs:
                group.create_task(begin(tab))
            await asyncio.sleep(3)
            living.pop().signal(SIGKILL)

        ends = [is_right(tab, agent) for tab in tabs]
        assert ends.count("complete") > TURNS / 2
        assert ends.count("interrupted") > 5


@pytest.mark.fault(
    "a primary of a Redis cluster is killed in mid-turn",
    "no client notices; once a replica has taken over, turns are kept again",
)
async def test_a_primary_of_a_cluster_is_killed(tmp_path: Path) -> None:
    async with RedisCluster(tmp_path) as cluster:
        await _lives_through(cluster.url, cluster.nodes[0])


@pytest.mark.fault(
    "the primary that Sentinels watch is killed in mid-turn",
    "no client notices; once a replica has taken over, turns are kept again",
)
async def test_a_primary_with_sentinels_is_killed(tmp_path: Path) -> None:
    async with WatchedRedis(tmp_path) as watched:
        await _lives_through(watched.url, watched.primary)


async def _lives_through(url: str, server: RedisServer) -> None:
    """Kill the server in mid-turn. Each prompt's stream is whole; later turns are kept again."""
    dice = Random(7)  # noqa: S311
    async with (
        TellingAgent(dice, pieces=40, pause_s=0.05) as agent,
        replicas(agent, url) as gateways,
        new_client() as client,
    ):
        tabs = [Tab(f"s{number}", gateways, dice) for number in range(30)]
        async with asyncio.TaskGroup() as group:
            for tab in tabs:
                group.create_task(tab.talk(client, 0))
            await asyncio.sleep(1)
            assert all(tab.is_kept for tab in tabs)
            await server.kill()
        assert [is_right(tab, agent) for tab in tabs] == ["complete"] * 30

        async with asyncio.timeout(30):
            for round_ in range(1_000):
                later = [Tab(f"r{round_}-{number}", gateways, dice) for number in range(12)]
                await asyncio.gather(*(tab.talk(client, 1) for tab in later))
                if all(tab.is_kept for tab in later):
                    break
        assert [is_right(tab, agent) for tab in later] == ["complete"] * 12
