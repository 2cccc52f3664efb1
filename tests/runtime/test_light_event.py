"""An event that takes little memory."""

import asyncio

from turnwire_agent.light_event import LightEvent


async def test_whoever_waits_is_woken_and_whoever_comes_later_does_not_wait() -> None:
    event = LightEvent()
    waiting = [asyncio.create_task(event.wait()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[1].cancel()
    await asyncio.sleep(0)
    assert not event.is_set()
    assert not any(each.done() for each in (waiting[0], waiting[2]))

    event.set()
    event.set()
    await asyncio.gather(waiting[0], waiting[2])

    assert event.is_set()
    await event.wait()
    assert event._waiters == ()


async def test_it_waits_again_once_it_is_cleared() -> None:
    event = LightEvent()
    event.set()
    event.clear()
    waiting = asyncio.create_task(event.wait())
    await asyncio.sleep(0)
    assert not waiting.done()

    event.set()
    event.clear()

    await waiting
