"""The turn log in a cluster and behind Sentinels: a primary that dies takes no turn with it."""

import asyncio
from pathlib import Path

import pytest

from gateway.redis_cluster import RedisCluster, WatchedRedis
from gateway.waiting import PATIENCE_S
from relay.turn_log.listening import HEAD, Control, write
from relay.turn_log.redis.rig import Rig, gets, new_rig, open_reader
from turnwire.core.events import Reason, TextDelta, TurnFinished
from turnwire.core.turn_log.entries import Head, Joined
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis.store import RedisTurnLog

pytestmark = [pytest.mark.sockets, pytest.mark.long, pytest.mark.timeout(180)]

END = TurnFinished(reason=Reason.END_TURN)
CHATS = [ChatKey(f"chat-{number}") for number in range(12)]


async def _is_read(rig: Rig, key: ChatKey) -> None:
    """One turn of a chat, told by one process and read in the other."""
    one, other = rig.logs
    writer = await one.claim(key, HEAD, Control())
    assert writer is not None
    assert writer.is_kept
    assert await other.claim(key, HEAD, Control()) is None
    write(writer, "a", END)
    writer.end(is_received=False)
    async with asyncio.timeout(PATIENCE_S):
        while one.turns:  # noqa: ASYNC110 (what Redis has, has no event)
            await asyncio.sleep(0.01)
    reader = await open_reader(other, key)
    await gets(reader, Head("p1", "u1"), Joined(2), TextDelta("a"), END)


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
    await _is_read(rig, key)


async def test_a_cluster_keeps_turns_and_goes_on_without_a_primary(
    tmp_path: Path,
) -> None:
    async with RedisCluster(tmp_path) as cluster, new_rig(cluster.url) as rig:
        for key in CHATS:
            await _is_read(rig, key)

        await (await cluster.primary_of(f"turnwire:{{{CHATS[0]}}}:lease")).kill()

        for key in CHATS:
            await _is_resumed(rig, key)


async def test_sentinels_name_the_next_primary(tmp_path: Path) -> None:
    async with WatchedRedis(tmp_path) as watched, new_rig(watched.url) as rig:
        await _is_read(rig, CHATS[0])

        await watched.primary.kill()

        await _is_resumed(rig, CHATS[0])
