"""The event of a request: what uvicorn, and whoever reads a body, may expect of it."""

import asyncio

from turnwire.web.server.message_event import MessageEvent


async def test_all_who_wait_go_on_and_who_comes_later_does_not_wait() -> None:
    event = MessageEvent()
    waiting = [asyncio.create_task(event.wait()) for _ in range(2)]
    await asyncio.sleep(0)
    event.set()
    event.set()
    await asyncio.gather(*waiting)

    assert event.is_set()
    await event.wait()
    event.clear()
    assert not event.is_set()
    late = asyncio.create_task(event.wait())
    await asyncio.sleep(0)
    assert not late.done()
    event.set()
    await late


async def test_one_who_is_cancelled_leaves_the_others_waiting() -> None:
    event = MessageEvent()
    gone, stays = (asyncio.create_task(event.wait()) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.wait([gone])
    assert not stays.done()

    event.set()
    await stays
    assert gone.cancelled()


async def test_a_wake_up_that_was_under_way_is_no_error_for_one_who_is_cancelled() -> None:
    event = MessageEvent()
    waiting = asyncio.create_task(event.wait())
    await asyncio.sleep(0)
    waiting.cancel()
    event.set()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
