"""What the doctor knows of its own delays."""

import asyncio
import time

from turnwire.doctor.lateness import Lateness, measuring


async def test_a_loop_that_was_held_up_is_late() -> None:
    lateness = Lateness()
    loop = asyncio.get_running_loop()
    async with measuring(lateness):
        await asyncio.sleep(0.05)
        began = loop.time()
        time.sleep(0.3)  # noqa: ASYNC251 (as a machine does that has no time for us)
        await asyncio.sleep(0.05)
        longest_s, all_s = lateness.since(began)

    assert longest_s >= 0.25
    assert all_s >= longest_s
    assert lateness.since(loop.time()) == (0.0, 0.0)
