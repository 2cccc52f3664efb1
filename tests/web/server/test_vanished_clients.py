"""Clients whose system acknowledges nothing any more are let go. Here the patience is short."""

import asyncio

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import chatting, is_whole
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.relay import tcp
from turnwire.web.server import server

pytestmark = pytest.mark.sockets


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the kernel's first probe, an idle peer and one that vanished look alike."""
    monkeypatch.setattr(tcp, "_VANISHED_S", 0.4)
    monkeypatch.setattr(server, "_CHECK_TICKS", 1)


async def test_a_client_that_acknowledges_nothing_is_let_go() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url()) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        line = await agent.line()
        await until(lambda: line.closed)

        assert len(line.aborts) == 1
        await gateway.has_ended("client_gone")


async def test_one_that_acknowledges_is_kept_though_it_says_nothing() -> None:
    async def talk(line: Line) -> None:
        await line.begin()
        for _ in range(30):
            await line.say(frames.delta("x"))
            await asyncio.sleep(0.05)  # an agent that thinks, for longer than the patience
        await line.say(frames.finalize())

    async with (
        ScriptedAgent(talk) as agent,
        Gateway(agent.url()) as gateway,
        chatting(gateway) as chat,
    ):
        assert is_whole(await chat.end())
