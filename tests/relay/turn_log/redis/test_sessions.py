"""Which of the agent's sessions belongs to which chat, in Redis."""

import pytest

from gateway.redis_server import RedisServer
from relay.turn_log.redis.rig import CHAT, OTHER, Rig, new_rig

pytestmark = pytest.mark.sockets


async def test_which_session_of_the_agent_is_that_of_a_chat_is_known_to_all(
    rig: Rig, redis: RedisServer
) -> None:
    one, other = rig.logs
    one.keep_session(CHAT, "session-1")

    assert (await one.session(CHAT), await other.session(CHAT)) == ("session-1", "session-1")
    assert await one.session(OTHER) is None
    left = int(await redis.ask("PTTL", "turnwire:{chat}:session"))
    assert 0 < left <= 2_592_000_000


async def test_without_a_redis_a_process_knows_the_sessions_that_it_used() -> None:
    async with new_rig("redis://127.0.0.1:1") as rig:
        one, other = rig.logs
        one.keep_session(CHAT, "session-1")

        assert (await one.session(CHAT), await other.session(CHAT)) == ("session-1", None)
