import asyncio
import gc
import logging
import threading

import pytest

from runtime.llm.credentials.token_server import until
from turnwire_agent.llm.credentials.concurrency import OwnThread, SingleFlight


class Runs:
    """Counts, and waits to be let go."""

    def __init__(self) -> None:
        self.count = 0
        self.may_end = asyncio.Event()

    async def run(self) -> int:
        self.count += 1
        await self.may_end.wait()
        return self.count

    async def fail(self) -> int:
        self.count += 1
        await self.may_end.wait()
        raise RuntimeError("failed")


async def test_all_share_one_run_and_the_next_is_another() -> None:
    flight, runs = SingleFlight[int](), Runs()
    tasks = [asyncio.create_task(flight.join(runs.run)) for _ in range(10)]
    await asyncio.sleep(0)
    runs.may_end.set()

    assert await asyncio.gather(*tasks) == [1] * 10
    assert await flight.join(runs.run) == 2


async def test_one_that_is_cancelled_leaves_it_to_the_others() -> None:
    flight, runs = SingleFlight[int](), Runs()
    first = asyncio.create_task(flight.join(runs.run))
    second = asyncio.create_task(flight.join(runs.run))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    runs.may_end.set()

    assert await second == 1
    assert first.cancelled()


async def test_a_failure_without_callers_is_no_noise(caplog: pytest.LogCaptureFixture) -> None:
    flight, runs = SingleFlight[int](), Runs()
    caller = asyncio.create_task(flight.join(runs.fail))
    await until(lambda: runs.count == 1)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    runs.may_end.set()
    await flight.settled()
    await asyncio.sleep(0)
    del caller  # its frames hold the run
    with caplog.at_level(logging.DEBUG):
        gc.collect()

    assert caplog.records == []


async def test_a_run_that_was_cancelled_is_over() -> None:
    flight, runs = SingleFlight[int](), Runs()
    caller = asyncio.create_task(flight.join(runs.run))
    await until(lambda: runs.count == 1)
    [run] = asyncio.all_tasks() - {caller, asyncio.current_task()}
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    runs.may_end.set()

    assert await flight.join(runs.run) == 2


async def test_settled_waits_for_the_run() -> None:
    flight, runs = SingleFlight[int](), Runs()
    await flight.settled()
    caller = asyncio.create_task(flight.join(runs.run))
    await asyncio.sleep(0)
    settled = asyncio.create_task(flight.settled())
    await asyncio.sleep(0.01)
    assert not settled.done()
    runs.may_end.set()
    await settled

    assert await caller == 1


async def test_calls_run_one_after_another_on_one_thread_that_is_not_ours() -> None:
    thread = OwnThread("t")
    order: list[int] = []

    def call(number: int) -> int:
        order.append(number)
        return threading.get_ident()

    idents = await asyncio.gather(*(thread.run(call, number) for number in range(10)))

    assert order == list(range(10))
    assert len({*idents, threading.get_ident()}) == 2


async def test_the_event_loop_goes_on_and_cancelled_calls_run_all_the_same() -> None:
    """Also one that has not begun: it may be the one that stores a token."""
    thread = OwnThread("t")
    may_end, ended = threading.Event(), threading.Event()
    tasks = [
        asyncio.create_task(thread.run(may_end.wait)),
        asyncio.create_task(thread.run(ended.set)),
    ]
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    may_end.set()
    await thread.run(lambda: None)

    assert ended.is_set()


async def test_what_it_raises_is_raised() -> None:
    def call() -> None:
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        await OwnThread("t").run(call)
