"""The turn log in a cluster and behind a Sentinel. What happens when they lose one is in chaos/."""

from pathlib import Path

import pytest

from gateway.redis_cluster import SmallCluster
from gateway.redis_server import RedisServer
from relay.turn_log.redis.rig import claim, is_read, new_rig
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis.servers import _key

pytestmark = [pytest.mark.sockets, pytest.mark.usefixtures("patient")]

CHATS = [ChatKey(f"chat-{number}") for number in range(12)]


async def test_a_cluster_has_each_chat_on_one_node_and_one_that_dies_takes_no_other_with_it(
    tmp_path: Path,
) -> None:
    async with SmallCluster(tmp_path) as cluster, new_rig(cluster.url) as rig:
        for key in CHATS:
            await is_read(rig, key)
        kept = [set((await node.ask("KEYS", "*")).split()) for node in cluster.nodes]
        for key in CHATS:
            of_chat = {_key(key, "turn"), _key(key, "entries")}
            assert sum(of_chat <= keys for keys in kept) == 1
        assert all(kept)
        assert rig.failures == 0

        await cluster.nodes[0].kill()

        for key in CHATS:
            if _key(key, "turn") in kept[0]:
                writer = await claim(rig.logs[0], key)
                assert not writer.is_kept
                writer.discard()
            else:
                await is_read(rig, key)


async def test_a_sentinel_names_the_server(tmp_path: Path) -> None:
    async with RedisServer(tmp_path) as redis:
        file = tmp_path / "sentinel.conf"
        file.write_text(f"sentinel monitor turnwire 127.0.0.1 {redis.port} 1\n")
        async with RedisServer(tmp_path, "--sentinel", configuration=str(file)) as sentinel:
            async with new_rig(f"redis+sentinel://127.0.0.1:{sentinel.port}/turnwire") as rig:
                await is_read(rig)
                assert rig.failures == 0
            async with new_rig(f"redis+sentinel://127.0.0.1:{sentinel.port}/other") as rig:
                assert not (await claim(rig.logs[0])).is_kept
                assert rig.failures
