"""What takes long is done in slices, in between all others; and for those who are there."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Final, Self

import pytest

from gateway import frames
from gateway.agent import ScriptedAgent, begin_only, stay_silent
from gateway.clients import RawClient, ask, is_whole, new_client, request
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from turnwire.core.bounds import LONG_BYTES
from turnwire.relay.rounds import ENTRIES_PER_ROUND

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


LINES: Final = 30_000
CHUNKS: Final = b"1\r\n \r\n" * LINES


@pytest.mark.attack(
    "a body of megabytes that takes long to read",
    "it is read in slices, between the work for other requests",
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


async def test_a_read_of_thousands_of_chunks_is_parsed_in_slices() -> None:
    body = json.dumps(ask()).encode()
    head = request(b"", headers={"transfer-encoding": "chunked", "content-length": ""})
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        async with Waiting(gateway) as waiting:
            await client.send(head + CHUNKS + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
            got = await client.read()
            while not got.endswith(b"0\r\n\r\n"):
                got += await client.read()

        assert got.startswith(b"HTTP/1.1 200 ")
        assert waiting.most == 1

        # The connection is as good as before.
        await client.send(request(json.dumps(ask()).encode()))
        assert (await client.read(12)) == b"HTTP/1.1 200"


async def test_a_connection_that_ends_while_it_is_parsed_is_forgotten() -> None:
    head = request(b"", headers={"transfer-encoding": "chunked", "content-length": ""})
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        async with RawClient(gateway) as client:
            await client.send(head + CHUNKS * 20)
            client.reset()
        await until(lambda: not gateway.server.server_state.connections)
        await until(lambda: not len(gateway.dialler.rounds))
        assert len(gateway.streams) == 0


async def test_many_requests_at_once_are_all_answered() -> None:
    """More than enter in a round of the loop, on new connections and on others."""
    asked = request(path="/healthz", method="GET")
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway, AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(RawClient(gateway))
            for _ in range(5 * ENTRIES_PER_ROUND)
        ]
        for _ in range(3):
            for client in clients:
                await client.send(asked)
            for client in clients:
                assert (await client.read()).startswith(b"HTTP/1.1 200 ")


async def test_one_queue_is_for_all_connections() -> None:
    """While nobody waited in it each had one of its own, and all had their slice in each round."""
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(request(json.dumps(ask()).encode()))
        line = await agent.line()
        flood = frames.raw(frames.text(frames.delta("x")).encode()) * 20_000
        async with Waiting(gateway) as waiting:
            await line.raw(flood)
            await until(lambda: waiting.most == 1)


@pytest.mark.parametrize("headers", [{}, {"content-length": "1"}], ids=["", "a body is missing"])
async def test_a_history_is_not_waited_for_when_its_client_left(headers: dict[str, str]) -> None:
    asked = request(path="/api/sessions/s1/messages", method="GET", headers=bearer() | headers)
    async with (
        ScriptedAgent(stay_silent) as agent,
        Gateway(agent.url(), dial_s=60) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(asked)
        line = await agent.line()
        client.reset()
        await until(lambda: line.closed)
