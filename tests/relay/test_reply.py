"""Answers with a length, for clients that read them slowly or not at all."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import SMALL_BUFFER, RawClient, ask, new_client, request, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until

pytestmark = pytest.mark.sockets

MB = 1_000_000
SIZE = 4 * MB
"""Of the history: more than the buffers between two sockets of this machine take."""

HISTORY = "/api/sessions/s1/messages"


def hello(size: int = SIZE) -> Any:
    parts = [{"type": "text", "text": "h" * size}, {"type": "finish", "reason": "end_turn"}]
    turn = {"id": frames.TURN, "role": "assistant", "parts": parts}
    return {"type": "init", "session": {"messages": [turn]}, "data": {}}


async def tell_history(line: Line) -> None:
    await line.say(hello())


@pytest.fixture
async def agent() -> AsyncIterator[ScriptedAgent]:
    async with ScriptedAgent(tell_history) as agent:
        yield agent


def history(user: str = "u1", method: str = "GET") -> bytes:
    headers = bearer(user, sessions={"*": "viewer"}) | {"content-length": "0"}
    return request(path=HISTORY, method=method, headers=headers)


async def asking(gateway: Gateway, stack: AsyncExitStack, user: str = "u1") -> RawClient:
    """A client with a small buffer that has asked for the history, and reads nothing."""
    client = await stack.enter_async_context(RawClient(gateway, receive_buffer=SMALL_BUFFER))
    await client.send(history(user))
    return client


async def read_response(client: RawClient) -> tuple[bytes, bytes]:
    """Head and body of a response with a length."""
    got = b""
    while b"\r\n\r\n" not in got:
        got += await client.read()
    head, _, body = got.partition(b"\r\n\r\n")
    length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    pieces, size = [body], len(body)
    while size < length and (data := await client.read(MB)):
        pieces.append(data)
        size += len(data)
    return head, b"".join(pieces)


@pytest.mark.attack(
    "a viewer asks for a long history on sixty connections, and reads very little",
    "429 above the limit of one user; the bytes that each client has not taken count, and a "
    "client that takes nothing is cut off",
)
async def test_sixty_slow_readers_have_as_many_places_as_one_user_has(agent: ScriptedAgent) -> None:
    async with (
        Gateway(agent.url(), max_streams_per_user=5, stall_s=30, dial_s=30) as gateway,
        AsyncExitStack() as stack,
    ):
        gateway.narrow()
        clients = [await asking(gateway, stack) for _ in range(60)]
        statuses = [(await client.read(12))[-3:] for client in clients]

        assert sorted(statuses) == [b"200"] * 5 + [b"429"] * 55
        budget = gateway.dialler.budget
        await until(lambda: budget.held_bytes > 5 * SIZE // 4)
        assert gateway.counted("turnwire_held_bytes") == budget.held_bytes
        for client in clients:
            client.reset()
        await until(lambda: not budget.held_bytes)


async def test_a_reader_that_takes_nothing_is_cut_and_gives_its_place_back(
    agent: ScriptedAgent,
) -> None:
    async with (
        Gateway(agent.url(), max_streams_per_user=1, stall_s=0.5) as gateway,
        AsyncExitStack() as stack,
    ):
        client = await asking(gateway, stack)
        await until(lambda: gateway.dialler.budget.held_bytes)
        await until(lambda: not gateway.server.server_state.connections)
        await until(lambda: not gateway.dialler.budget.held_bytes)

        client.reset()
        again = await asking(gateway, stack)
        assert (await again.read(12))[-3:] == b"200"
        again.reset()


async def test_a_reader_that_is_slow_but_reads_gets_all_of_it(agent: ScriptedAgent) -> None:
    async with (
        Gateway(agent.url(), stall_s=0.5) as gateway,
        RawClient(gateway, receive_buffer=65_536) as client,
    ):
        await client.send(history())
        got = b""
        while b'"state":"done"}]' not in got[-200:]:
            data = await client.read(40_000)
            assert data, "cut"
            got += data
            await asyncio.sleep(0.01)  # the slowness is the fact here

        head, _, body = got.partition(b"\r\n\r\n")
        assert f"content-length: {len(body)}".encode() in head
        assert len(body) > SIZE


async def test_the_connection_is_good_for_another_request(agent: ScriptedAgent) -> None:
    async with Gateway(agent.url()) as gateway, RawClient(gateway) as client:
        await client.send(history(method="HEAD"))
        head = b""
        while b"\r\n\r\n" not in head:
            head += await client.read()
        assert head.startswith(b"HTTP/1.1 200")
        assert head.endswith(b"\r\n\r\n"), "no body"

        for _ in range(2):
            await client.send(history())
            again, body = await read_response(client)
            assert again.startswith(b"HTTP/1.1 200")
            assert "h" * SIZE in json.dumps(json.loads(body)[0]["parts"])
            assert len(body) == int(head.split(b"content-length: ")[1].split(b"\r\n")[0])


async def test_when_the_budget_is_spent_the_largest_reader_is_cut(agent: ScriptedAgent) -> None:
    async with (
        Gateway(agent.url(), held_bytes=5 * SIZE // 2, stall_s=30, dial_s=30) as gateway,
        AsyncExitStack() as stack,
    ):
        budget = gateway.dialler.budget
        slow = [await asking(gateway, stack, "slow") for _ in range(2)]
        await until(lambda: budget.held_bytes > SIZE)
        other = await asking(gateway, stack, "other")
        head, body = await read_response(other)

        assert head.startswith(b"HTTP/1.1 200")
        assert len(body) > SIZE
        assert budget.held_bytes < 5 * SIZE // 2
        for client in slow:
            client.reset()


async def test_what_is_told_again_to_a_workflow_client_is_bounded_too() -> None:
    prompts: list[str] = []

    async def tell(line: Line) -> None:
        if prompts:
            told = hello()
            told["session"]["messages"][0]["promptId"] = prompts[0]
            await line.say(told)
            return
        await line.say({"type": "init", "session": {"messages": []}, "data": {}})
        prompts.append((await line.prompt())["promptId"])
        await line.say(frames.create(prompts[0]), frames.finalize())

    async with (
        ScriptedAgent(tell) as agent,
        Gateway(agent.url(), stall_s=1) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
        new_client() as polite,
    ):
        headers = bearer() | {"content-type": "text/plain"}
        url = f"{gateway.url}/api/sessions/s1/chat"
        whole = await polite.post(url, content=json.dumps(ask()), headers=headers)
        run = whole.headers["x-workflow-run-id"]
        path = f"/api/sessions/s1/chat/{run}/stream?startIndex=0"
        again = await polite.get(gateway.url + path, headers=bearer())
        assert said(again.text) == "h" * SIZE

        await client.send(request(path=path, method="GET", headers={"content-length": "0"}))
        await until(lambda: gateway.dialler.budget.held_bytes > SIZE // 4)
        assert len(gateway.streams) == 1, "its place is kept"
        await until(lambda: len(gateway.streams) == 0)
        assert not gateway.dialler.budget.held_bytes
        client.reset()
