"""The turn log in a cluster and behind Sentinels: a primary that dies takes no turn with it."""

import asyncio
from pathlib import Path

import pytest

from gateway.redis_cluster import RedisCluster, WatchedRedis
from gateway.waiting import PATIENCE_S
from relay.turn_log.listening import HEAD, Control
from relay.turn_log.redis.rig import Rig, is_read, new_rig
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis.store import RedisTurnLog

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

CHATS = [ChatKey(f"chat-{number}") for number in range(12)]


async def _is_kept(log: RedisTurnLog, key: ChatKey) -> bool:
    writer = await log.claim(key, HEAD, Control())
    if writer is None:
        return False
    is_kept = writer.is_kept
    writer.discard()
    await asyncio.sleep(0.1)
    return is_kept


async def _is_resumed(rig: Rig, key: ChatKey) -> None:
    """As soon as each process has found that there is a primary again."""
    async with asyncio.timeout(PATIENCE_S):
        for log in rig.logs:
            while not await _is_kept(log, key):  # noqa: ASYNC110 (what Redis has, has no event)
                await asyncio.sleep(0.1)
            while log.turns:  # noqa: ASYNC110 (what Redis has, has no event)
                await asyncio.sleep(0.01)
    await is_read(rig, key)


@pytest.mark.fault(
    "a primary of a Redis cluster is killed between two turns",
    "turns of its chats are kept again once a replica has taken over; others are kept all the time",
)
async def test_a_cluster_keeps_turns_and_goes_on_without_a_primary(tmp_path: Path) -> None:
    async with RedisCluster(tmp_path) as cluster, new_rig(cluster.url) as rig:
        for key in CHATS:
            await is_read(rig, key)

        await (await cluster.primary_of(f"turnwire:{{{CHATS[0]}}}:lease")).kill()

        for key in CHATS:
            await _is_resumed(rig, key)


@pytest.mark.fault(
    "the primary that Sentinels watch is killed between two turns",
    "turns are kept again once a replica has taken over",
)
async def test_sentinels_name_the_next_primary(tmp_path: Path) -> None:
    async with WatchedRedis(tmp_path) as watched, new_rig(watched.url) as rig:
        await is_read(rig, CHATS[0])

        await watched.primary.kill()

        await _is_resumed(rig, CHATS[0])
