"""A Redis of Debian for each test that asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import PATIENCE_S
from relay.turn_log.redis.rig import Rig, new_rig
from turnwire.relay.turn_log.redis import clients, patience


@pytest.fixture
async def redis(tmp_path: Path) -> AsyncIterator[RedisServer]:
    async with RedisServer(tmp_path) as server:
        yield server


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine is so busy that a Redis which runs seems to fail."""
    monkeypatch.setattr(patience, "ANSWER_S", PATIENCE_S / 2)
    monkeypatch.setattr(clients, "_GIVE_UP_S", PATIENCE_S)


@pytest.fixture
async def rig(
    patient: None,  # noqa: ARG001 (it is there for what it does)
    redis: RedisServer,
) -> AsyncIterator[Rig]:
    async with new_rig(redis.url) as rig:
        yield rig
