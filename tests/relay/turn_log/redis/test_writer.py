"""The writes of many turns: in slices, between which the loop does other work, to the last one."""

import asyncio

import pytest

from gateway.redis_server import RedisServer
from relay.turn_log.redis.rig import claim, new_rig
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis.writer import _FLUSH_BYTES, _SLICE, _in_slices


@pytest.mark.parametrize(("count", "slices"), [(0, 1), (1, 1), (_SLICE, 1), (2 * _SLICE + 1, 3)])
async def test_the_loop_works_between_two_slices(count: int, slices: int) -> None:
    loop = asyncio.get_running_loop()
    found: list[int] = []
    between: list[int] = []
    async for some in _in_slices(range(count)):
        found += some
        loop.call_soon(between.append, len(found))

    assert found == list(range(count))
    assert len(between) == slices - 1


@pytest.mark.sockets
@pytest.mark.usefixtures("patient")
async def test_a_process_that_stops_writes_all_that_waits_however_much_it_is(
    redis: RedisServer,
) -> None:
    size, count = _FLUSH_BYTES // 4, 20
    async with new_rig(redis.url, turn_bytes=2 * size, total_bytes=2 * count * size) as rig:
        keys = [ChatKey(f"chat{number}") for number in range(count)]
        turns = [await claim(rig.logs[0], key) for key in keys]
        for turn in turns:
            turn.append_texts(["x" * size])

        await rig.logs[0].aclose()

        states = {await redis.ask("HGET", f"turnwire:{{{key}}}:turn", "state") for key in keys}
        sizes = {await redis.ask("LLEN", f"turnwire:{{{key}}}:entries") for key in keys}
    assert (states, sizes) == ({"gone"}, {"1"})
