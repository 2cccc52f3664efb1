import asyncio
from contextlib import suppress

import pytest

from turnwire.relay.turn_log import tasks


async def forever() -> None:
    await asyncio.Event().wait()


async def deaf_once() -> None:
    with suppress(asyncio.CancelledError):  # as for a time limit of its own
        await forever()
    await forever()


async def fails() -> None:
    raise ConnectionError


async def test_a_task_that_takes_a_cancellation_for_another_ends_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "AGAIN_S", 0.01)
    running = [asyncio.create_task(each()) for each in (forever, deaf_once, fails)]
    await asyncio.sleep(0)

    await tasks.end(*running)

    assert [task.cancelled() for task in running] == [True, True, False]


async def test_none_are_over_at_once() -> None:
    await tasks.end()
