"""Work that somebody else may end."""

import asyncio
import gc
import weakref
from contextlib import suppress

import pytest

from turnwire.relay.interrupted import Interruptible


class EndedError(Exception):
    """It was ended."""


async def test_work_that_is_ended_raises_what_was_given() -> None:
    async def work() -> None:
        async with Interruptible(EndedError()) as working:
            asyncio.get_running_loop().call_soon(working.end)
            await asyncio.sleep(60)

    with pytest.raises(EndedError):
        await work()


async def test_work_that_is_done_raises_nothing_though_it_is_ended_then() -> None:
    async with Interruptible(EndedError()) as work:
        await asyncio.sleep(0)

    work.end()
    await asyncio.sleep(0)


async def test_work_whose_task_is_cancelled_is_cancelled() -> None:
    async def work() -> None:
        async with Interruptible(EndedError()):
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])

    assert task.cancelled()


async def test_what_an_ended_task_had_is_let_go_of_at_once() -> None:
    """Not by the collector, which looks seldom: it may be megabytes."""

    class Large: ...

    async def work(kept: list[weakref.ref[Large]]) -> None:
        large = Large()
        kept.append(weakref.ref(large))
        async with Interruptible(EndedError()) as working:
            asyncio.get_running_loop().call_soon(working.end)
            await asyncio.sleep(60)

    kept: list[weakref.ref[Large]] = []
    gc.disable()
    try:
        with suppress(EndedError):  # pytest would keep what was raised
            await work(kept)
        await asyncio.sleep(0)  # the task's own step holds what was thrown into it
        assert kept[0]() is None
    finally:
        gc.enable()
