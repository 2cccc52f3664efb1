"""Gateways are restarted one after the other, behind a real proxy, under load."""

import asyncio
import signal
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Self

import httpx
import pytest

from chaos.fronts import Front, Haproxy, Nginx
from chaos.verdicts import verdict
from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, new_client, said
from gateway.served import Served
from gateway.tokens import bearer
from gateway.waiting import until
from support.form import either
from turnwire_lab.process import free_port

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(600)]

PATIENCE_S = 150.0
"""So many users and three processes share what a busy machine leaves them."""
WORKERS = 60
TURNS = either(300, 2000)


async def _think(line: Line) -> None:
    """A turn of some tenths of a second, so that every restart finds many open."""
    await line.begin()
    for number in range(10):
        await line.say(frames.delta(f"{number} "))
        await asyncio.sleep(0.05)  # the agent thinks
    await line.say(frames.finalize())


class Load:
    """Users who ask again as soon as they were answered."""

    def __init__(self, url: str) -> None:
        self.verdicts: Counter[str] = Counter()
        self._url = url
        self._enough = False

    def stop(self) -> None:
        """Let everybody finish what was asked."""
        self._enough = True

    async def user(self, number: int) -> None:
        url, headers = f"{self._url}/api/sessions/s{number}/chat", bearer(f"u{number}")
        async with new_client() as client:
            while not self._enough:
                try:
                    response = await client.post(url, json=ask(), headers=headers)
                except httpx.TransportError as exc:
                    self.verdicts[repr(exc)] += 1
                    continue
                good = response.status_code == 200 and said(response.text) == "0 1 2 3 4 5 6 7 8 9 "
                self.verdicts[verdict(response.text) if good else response.text[:300]] += 1


class Fleet:
    """Two gateways on ports of their own."""

    def __init__(self, agent_url: str, **given: object) -> None:
        self.ports = (free_port(), free_port())
        self.ever: list[Served] = []
        self._agent_url = agent_url
        self._given = given
        self._now: list[AsyncExitStack] = []

    async def start(self, port: int) -> None:
        stack = AsyncExitStack()
        gateway = Served(self._agent_url, port=port, **self._given)
        self.ever.append(await stack.enter_async_context(gateway))
        self._now.append(stack)

    async def restart_the_oldest(self) -> None:
        """Stop it as a deployment does, start its successor, and see that one asked."""
        old = self.ever[len(self.ever) - 2]
        old.signal(signal.SIGTERM)
        await old.ended()
        await self._now.pop(0).aclose()
        await self.start(old.port)
        await until(lambda: self.ever[-1].logged("stream ended"), PATIENCE_S)

    async def __aenter__(self) -> Self:
        for port in self.ports:
            await self.start(port)
        return self

    async def __aexit__(self, *_: object) -> None:
        for stack in self._now:
            await stack.aclose()


async def _roll(front: Front, fleet: Fleet) -> None:
    load = Load(front.url)
    users = [asyncio.create_task(load.user(number)) for number in range(WORKERS)]
    try:
        await until(lambda: all(each.logged("stream ended") for each in fleet.ever), PATIENCE_S)
        restarts = 0
        while restarts < 2 or load.verdicts.total() < TURNS:
            await fleet.restart_the_oldest()
            restarts += 1
        load.stop()
        await asyncio.gather(*users)
    finally:
        for user in users:
            user.cancel()
        await asyncio.wait(users)

    assert load.verdicts == {"completed": load.verdicts.total()}, front.log()[-2000:]

    def ended() -> Counter[str]:
        return sum((gateway.logged_outcomes() for gateway in fleet.ever), Counter[str]())

    # Of the last ones it is told once their clients have acknowledged all, which may take a look.
    await until(lambda: ended().total() >= load.verdicts.total(), PATIENCE_S)
    assert ended() == load.verdicts


@pytest.mark.fault("two gateways restart in turn behind nginx, under load", "no turn fails")
async def test_a_rolling_restart_behind_nginx_costs_no_turn(tmp_path: Path) -> None:
    async with (
        ScriptedAgent(_think) as agent,
        Fleet(agent.url()) as fleet,
        Nginx(tmp_path, fleet.ports) as front,
    ):
        await _roll(front, fleet)


@pytest.mark.fault("two gateways restart in turn behind HAProxy, under load", "no turn fails")
async def test_a_rolling_restart_behind_haproxy_costs_no_turn(tmp_path: Path) -> None:
    async with (
        ScriptedAgent(_think) as agent,
        Fleet(agent.url(), lameduck_s=2) as fleet,
        Haproxy(tmp_path, fleet.ports) as front,
    ):
        await _roll(front, fleet)
