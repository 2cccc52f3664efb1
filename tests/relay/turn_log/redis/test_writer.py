"""The writes of many turns are made in slices, and the loop does other work in between."""

import asyncio

import pytest

from turnwire.relay.turn_log.redis.writer import _SLICE, _in_slices


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
