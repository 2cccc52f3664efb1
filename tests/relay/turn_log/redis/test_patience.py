"""How long a reply is waited for; a loop that hung takes the reply that came meanwhile."""

import asyncio
import time

import pytest

from turnwire.relay.turn_log.redis import patience as patience_module
from turnwire.relay.turn_log.redis.patience import patience


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience_module, "ANSWER_S", 0.05)


async def test_what_takes_too_long_is_given_up() -> None:
    with pytest.raises(TimeoutError):
        async with patience():
            await asyncio.Event().wait()


async def test_the_time_ends_with_what_is_done() -> None:
    async with patience():
        await asyncio.sleep(0)
    await asyncio.sleep(0.1)


async def test_an_error_is_passed_on_and_ends_the_time() -> None:
    with pytest.raises(ValueError, match="x"):
        async with patience():
            raise ValueError("x")
    await asyncio.sleep(0.1)


async def test_a_loop_that_hung_takes_the_reply() -> None:
    """When it goes on, the end of the time and the reply are due at once."""
    loop = asyncio.get_running_loop()
    reply = loop.create_future()
    loop.call_soon(time.sleep, 0.2)
    loop.call_later(0.1, reply.set_result, "in time")

    async with patience():
        assert await reply == "in time"
