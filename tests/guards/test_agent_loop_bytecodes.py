"""Bytecodes a chunk of an answer on its way through the loop: from the model's event to the socket.

As `test_bytecodes` counts. What reading the event takes is in `test_model_call_bytecodes`.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator

import pytest
from msgspec import Raw

import turnwire_agent
from guards.counting import counted
from guards.limits import hold
from runtime.host.hosted import hosted, words
from turnwire_agent.drivers.answers import Show
from turnwire_agent.drivers.model import ModelDriver
from turnwire_agent.llm.events import Event, Finish, TextDelta, TextEnd, TextStart, Usage
from turnwire_agent.llm.model import Model
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.prepare import Prepared
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.skipif(
        sys.version_info[:2] != (3, 11), reason="the limits are bytecodes of Python 3.11"
    ),
]

FEW, MANY = 100, 300
MODEL = Model(provider="local", name="large", shape="chat", base_url="http://127.0.0.1:1/v1")


class Words:
    """Answers with so many words; with `alone`, each is committed before the next comes."""

    def __init__(self, count: int, *, alone: bool) -> None:
        self._count = count
        self._alone = alone

    async def stream(
        self, _asked: AskModel, _prepared: Prepared, _show: Show
    ) -> AsyncGenerator[Event, None]:
        yield TextStart("0")
        for _ in range(self._count):
            yield TextDelta("0", "word ")
            if self._alone:
                for _ in range(4):
                    await asyncio.sleep(0)
        yield TextEnd("0")
        yield Finish("stop", "stop", Usage(), Raw(b"[]"))


async def turn(count: int, *, alone: bool) -> tuple[int, int]:
    """Bytecodes of a turn, and how many frames its text came in."""
    thread = ToolThread()
    driver = ModelDriver(
        agent=Agent(model=MODEL, tools=Tools()),
        answers=Words(count, alone=alone),
        tools=ToolRunner(thread),
    )
    async with hosted(driver) as host, host.socket() as socket:
        with counted((turnwire_agent,)) as count_of:
            frames = await asyncio.create_task(socket.turn("hello"))
    thread.close()
    assert words(frames) == "word " * count
    return count_of.opcodes, len(frames)


async def test_a_chunk_of_a_burst() -> None:
    (many, _), (few, _) = [await turn(count, alone=False) for count in (MANY, FEW)]

    hold("agent loop: bytecodes a chunk of a burst", (many - few) / (MANY - FEW))


async def test_a_chunk_with_a_commit_of_its_own() -> None:
    (many, frames), (few, _) = [await turn(count, alone=True) for count in (MANY, FEW)]

    assert frames > MANY
    hold("agent loop: bytecodes a chunk with a commit of its own", (many - few) / (MANY - FEW))
