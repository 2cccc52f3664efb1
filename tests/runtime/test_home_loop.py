"""What belongs to a loop is used in that loop, whoever asks for it."""

import asyncio
import threading

import pytest

from gateway.waiting import PATIENCE_S
from turnwire_agent.home_loop import HomeLoop


async def here() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


async def made() -> HomeLoop:
    return HomeLoop()


async def test_at_home_it_is_awaited() -> None:
    assert await HomeLoop().run(here()) is asyncio.get_running_loop()


async def test_in_another_loop_it_runs_at_home() -> None:
    home, found = HomeLoop(), list[asyncio.AbstractEventLoop]()
    thread = threading.Thread(target=lambda: found.append(asyncio.run(home.run(here()))))
    thread.start()
    await asyncio.to_thread(thread.join)

    assert found == [asyncio.get_running_loop()]


async def test_who_stops_waiting_stops_it() -> None:
    home, began, ended = HomeLoop(), asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def elsewhere() -> None:
        async with asyncio.timeout(0.2):
            await home.run(wait())

    stopped = asyncio.create_task(asyncio.to_thread(asyncio.run, elsewhere()))
    await began.wait()
    with pytest.raises(TimeoutError):
        await stopped
    async with asyncio.timeout(PATIENCE_S):
        await ended.wait()


def test_a_home_that_is_closed_runs_nothing() -> None:
    home = asyncio.run(made())

    with pytest.raises(RuntimeError):
        asyncio.run(home.run(here()))


def test_a_home_is_a_running_loop() -> None:
    with pytest.raises(RuntimeError):
        HomeLoop()
