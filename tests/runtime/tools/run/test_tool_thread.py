"""The thread of the tools: what one tool does ends no other."""

import asyncio
import sys
import threading
import time

import pytest

from gateway.waiting import PATIENCE_S
from turnwire_agent.tools.run.tool_thread import ToolThread, give_slot_up


async def exits() -> None:
    sys.exit("as libraries for the command line do")


async def interrupts() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("tool", [lambda: sys.exit(3), exits, interrupts])
async def test_a_tool_that_would_end_the_process_ends_itself_alone(tool: object) -> None:
    thread = ToolThread()
    other = thread.start(lambda: asyncio.sleep(0.2, "other"))
    ended = thread.start(tool)  # type: ignore[arg-type]
    await asyncio.wait([ended.done], timeout=PATIENCE_S)
    assert isinstance(ended.done.exception(), SystemExit | KeyboardInterrupt)

    async with asyncio.timeout(PATIENCE_S):
        assert await other.done == "other"
        assert await thread.start(lambda: "next").done == "next"
    thread.close()


async def test_a_function_that_was_stopped_before_its_turn_came_is_never_called() -> None:
    thread = ToolThread(threads=1)
    called: list[str] = []
    first = thread.start(lambda: time.sleep(0.2))
    stopped = thread.start(lambda: called.append("stopped"))
    await asyncio.sleep(0.05)
    stopped.cancel()
    await asyncio.wait([stopped.done], timeout=PATIENCE_S)
    assert stopped.done.cancelled()

    async with asyncio.timeout(PATIENCE_S):
        await first.done
        await thread.start(lambda: called.append("next")).done
        await thread.start(lambda: called.append("last")).done
    await asyncio.sleep(0.05)
    assert called == ["next", "last"]
    thread.close()


async def test_functions_that_never_end_keep_no_other_from_running() -> None:
    thread = ToolThread(threads=2)
    stop = threading.Event()
    endless = [thread.start(lambda: stop.wait(20)) for _ in range(4)]
    await asyncio.sleep(0.05)
    for each in endless:
        each.cancel()

    async with asyncio.timeout(PATIENCE_S):
        assert await thread.start(lambda: "next").done == "next"
    stop.set()
    thread.close()


async def test_a_function_that_waits_for_a_person_has_no_slot() -> None:
    thread = ToolThread(threads=1)
    answered = threading.Event()

    def asks() -> str:
        give_slot_up()
        give_slot_up()
        answered.wait(5)
        return "asked"

    asking = thread.start(asks)
    async with asyncio.timeout(PATIENCE_S):
        assert [await thread.start(lambda: "other").done for _ in range(2)] == ["other"] * 2
        answered.set()
        assert await asking.done == "asked"
        assert await thread.start(lambda: "next").done == "next"
    assert thread._left_behind == 0
    assert thread._slots._value == 1
    thread.close()


def test_elsewhere_there_is_no_slot_to_give_up() -> None:
    give_slot_up()
