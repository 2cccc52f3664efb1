import asyncio
import threading

import pytest

from turnwire_agent.llm.credentials.own_thread import OwnThread


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
