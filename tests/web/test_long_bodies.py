"""Bodies that take long to read do not hold the event loop."""

import asyncio
import json
from typing import Self

import pytest

from gateway.agent import ScriptedAgent
from gateway.clients import ask, is_whole, new_client
from gateway.running import Gateway
from gateway.tokens import bearer
from turnwire.core.bounds import LONG_BYTES

pytestmark = pytest.mark.sockets


class Waiting:
    """Looks in each round of the loop how much work waits for the next one."""

    def __init__(self, gateway: Gateway) -> None:
        self.most = 0
        self._rounds = gateway.dialler.rounds
        self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while True:
            self.most = max(self.most, len(self._rounds))
            await asyncio.sleep(0)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._looking.cancel()
        await asyncio.wait([self._looking])


@pytest.mark.attack(
    "a body of megabytes that takes long to read", "it is read in slices, between all others"
)
@pytest.mark.parametrize(("size", "most"), [(LONG_BYTES // 2, 0), (8_000_000, 1)])
async def test_a_long_body_is_read_in_slices(size: int, most: int) -> None:
    """Two at once, of one user: the second is read when the first one was."""
    body = json.dumps(ask(metadata="x" * size)).encode()
    headers = {**bearer(), "content-type": "application/json"}
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway, new_client() as client:
        async with Waiting(gateway) as waiting, asyncio.TaskGroup() as group:
            answers = [
                group.create_task(
                    client.post(
                        f"{gateway.url}/api/sessions/s{n}/chat", content=body, headers=headers
                    )
                )
                for n in range(2)
            ]
        wrong = await client.post(
            f"{gateway.url}/api/sessions/s1/chat", content=b"[" * size, headers=headers
        )

    assert all(is_whole(answer.result().text) for answer in answers)
    assert wrong.status_code == 400
    assert waiting.most == most
