"""Code of an agent that would end the process ends a turn alone."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from typing import NoReturn

import pytest

from gateway.waiting import PATIENCE_S
from runtime.drivers.model_agent import playing, says
from runtime.host.hosted import Frame, hosted, words
from runtime.llm.call.called import model
from runtime.llm.scripted_server import response, sends
from turnwire_agent.drivers.answers import Show
from turnwire_agent.drivers.contained import ProcessEndError, contained
from turnwire_agent.drivers.model import ModelDriver
from turnwire_agent.llm.events import Event
from turnwire_agent.llm.transcript import Transcript
from turnwire_agent.loop.actions import AskModel
from turnwire_agent.loop.agent import Agent
from turnwire_agent.loop.prepare import Prepared
from turnwire_agent.loop.words import LOSSES
from turnwire_agent.tools.contract import Tools
from turnwire_agent.tools.run.raised import described
from turnwire_agent.tools.run.runner import ToolRunner
from turnwire_agent.tools.run.tool_thread import ToolThread

CANARY = "canary-of-an-exit"


class Strange(BaseException):
    """No `Exception`, and nothing that asyncio knows."""


def exits() -> NoReturn:
    sys.exit(CANARY)


def interrupts() -> NoReturn:
    raise KeyboardInterrupt(CANARY)


def is_strange() -> NoReturn:
    raise Strange(CANARY)


async def within(called: Callable[[], NoReturn]) -> NoReturn:
    await asyncio.sleep(0)
    called()


@pytest.mark.parametrize("called", [exits, interrupts, is_strange])
async def test_what_would_end_the_process_is_an_error_with_its_place(
    called: Callable[[], NoReturn],
) -> None:
    with pytest.raises(ProcessEndError) as raised:
        await contained(within(called))
    assert f"{called.__name__}:" in described(raised.value)
    assert CANARY not in str(raised.value)


async def test_a_cancellation_stays_one() -> None:
    task = asyncio.create_task(contained(asyncio.sleep(5)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


class Ending:
    """Answers that end the process."""

    def __init__(self, called: Callable[[], NoReturn]) -> None:
        self._called = called

    async def stream(
        self, _asked: AskModel, _prepared: Prepared, _show: Show
    ) -> AsyncGenerator[Event, None]:
        if not self._called():
            yield


def last(frames: list[Frame]) -> Frame:
    return [each for each in frames if each["type"] == "message.finalize"][-1]


@pytest.mark.parametrize("called", [exits, interrupts, is_strange])
async def test_answers_that_would_end_the_process(called: Callable[[], NoReturn]) -> None:
    driver = ModelDriver(
        agent=Agent(model=model("http://127.0.0.1:1"), tools=Tools(())),
        answers=Ending(called),
        tools=ToolRunner(ToolThread()),
    )
    async with hosted(driver) as host, host.socket() as socket, asyncio.timeout(PATIENCE_S):
        assert last(await socket.turn("hello"))["error"] == "The agent failed."
        assert last(await socket.turn("hello", "p2"))["error"] == "The agent failed."


@pytest.mark.parametrize("called", [exits, interrupts, is_strange])
async def test_a_compaction_that_would_end_the_process(
    called: Callable[[], NoReturn], caplog: pytest.LogCaptureFixture
) -> None:
    async def compaction(_: Transcript) -> Transcript | None:
        called()

    overflow = {"error": {"code": "context_length_exceeded", "message": "x"}}
    async with (
        playing([sends(response(400, overflow)), says("Fine.")], compaction=compaction) as play,
        play.host.socket() as socket,
        asyncio.timeout(PATIENCE_S),
    ):
        assert last(await socket.turn("hello"))["error"] == LOSSES["context-overflow"]
        assert words(await socket.turn("hello", "p2")) == "Fine."
    assert "compaction: outcome=raised" in caplog.text
    assert CANARY not in caplog.text
