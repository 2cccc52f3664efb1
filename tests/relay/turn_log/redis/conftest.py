"""A Redis of Debian: an empty one that tests share, or one of its own for a test that harms it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import PATIENCE_S
from relay.turn_log.redis.rig import Rig, all_listen, new_rig
from turnwire.relay.turn_log.redis import clients, patience


@pytest.fixture(scope="module")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.begin()
    yield server
    server.end()


@pytest.fixture
async def redis(shared_redis: RedisServer) -> AsyncIterator[RedisServer]:
    """Empty. It may be paused, and nothing worse."""
    assert await shared_redis.ask("FLUSHALL") == "OK"
    yield shared_redis
    shared_redis.unpause()


@pytest.fixture
async def own_redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with RedisServer(tmp_path) as server:
        yield server


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine is so busy that a Redis which runs seems to fail."""
    monkeypatch.setattr(patience, "ANSWER_S", PATIENCE_S / 2)
    monkeypatch.setattr(clients, "_GIVE_UP_S", PATIENCE_S)
    monkeypatch.setattr(clients, "_SENTINEL_S", PATIENCE_S / 4)


@pytest.fixture
async def rig(
    patient: None,  # noqa: ARG001 (it is there for what it does)
    redis: RedisServer,
) -> AsyncIterator[Rig]:
    async with new_rig(redis.url) as rig:
        for log in rig.logs:
            log._listen()
        await all_listen(redis, len(rig.logs))
        yield rig
