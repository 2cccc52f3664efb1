"""A turn in which the agent says nothing for a long time, behind all proxies at once."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Chat, is_whole, said
from gateway.reading import App
from gateway.served import Served
from gateway.waiting import until
from proxies.fronts import FRONTS, hasty
from support.form import LONG, either

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(600)]

KEEPALIVES = either(8, 5)
"""Longer than any of the proxies waits: one comes at once, the others every second, or every
fifteen less a fifth.
"""
PATIENCE_S = 300


async def test_a_long_silence_is_survived(tmp_path: Path) -> None:
    """A minute of it, with everything as it comes; the short form is shorter in all its times."""
    kinds = FRONTS if LONG else tuple(map(hasty, FRONTS))
    ask_on = asyncio.Event()

    async def think(line: Line) -> None:
        await line.begin()
        await line.say(frames.delta("Well"))
        await ask_on.wait()
        await line.say(frames.delta(", yes"), frames.finalize())

    async with (
        ScriptedAgent(think) as agent,
        Served(agent.url(), keepalive_s=15 if LONG else 1) as gateway,
        AsyncExitStack() as stack,
    ):
        chats: list[Chat] = []
        for kind in kinds:
            folder = tmp_path / str(len(chats))
            folder.mkdir()
            front = await stack.enter_async_context(kind(folder, (gateway.port, gateway.port)))
            chats.append(await stack.enter_async_context(App(front).prompt("hi")))
        await until(
            lambda: all(c.body.count(b": keepalive") > KEEPALIVES or c.ended for c in chats),
            PATIENCE_S,
        )
        ask_on.set()
        bodies = [await chat.end() for chat in chats]

    assert [said(body) for body in bodies] == ["Well, yes"] * len(kinds)
    assert all(map(is_whole, bodies))
