"""What a request holds: its body until it is read, its files until they are sent."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import Chat, RawClient, chatting, is_whole, new_client, request
from gateway.pictures import ask_with_picture
from gateway.process import Process
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import PATIENCE_S, until

pytestmark = pytest.mark.sockets

MB = 1_000_000


async def forget(line: Line) -> None:
    """Begin a turn, and keep nothing of what it was asked."""
    await line.begin()
    line.heard.clear()
    await line.say(frames.delta("Hello"))


@pytest.mark.attack(
    "one user sends sixteen megabytes of files with each of many prompts",
    "they count until the agent's socket has taken them; then the memory is free, however long "
    "the turn takes",
)
@pytest.mark.parametrize("dialect", ["v2"])
async def test_no_file_is_kept_while_the_turn_goes_on(dialect: str) -> None:
    streams, size = 6, 8 * MB
    body = json.dumps(ask_with_picture(size)).encode()
    async with (
        ScriptedAgent(forget) as agent,
        Process(agent.url(), dialect=dialect, record_dir="") as gateway,
        AsyncExitStack() as stack,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        headers = bearer() | {"content-type": "application/json"}

        async def hear() -> None:
            sending = client.stream("POST", url, content=body, headers=headers)
            chat = Chat(await stack.enter_async_context(sending))
            stack.push_async_callback(chat.hang_up)
            await until(lambda: b"Hello" in chat.body, 20)

        await hear()
        before = resident_bytes(gateway)
        for _ in range(streams):
            await hear()

        assert len(agent.lines) == streams + 1
        assert not any(line.closed for line in agent.lines)
        assert resident_bytes(gateway) - before < streams * size / 4


def resident_bytes(gateway: Process) -> int:
    status = Path(f"/proc/{gateway._process.pid}/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


async def test_files_count_until_they_are_sent() -> None:
    """Here the agent takes its time to say yes to the handshake."""
    may_admit = asyncio.Event()

    async with (
        ScriptedAgent(forget, admits=may_admit) as agent,
        Gateway(agent.url(), dial_s=20) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        budget = gateway.dialler.budget
        posting = client.stream("POST", url, json=ask_with_picture(2 * MB), headers=bearer())
        reading = asyncio.create_task(_read(posting, b"Hello"))
        await until(lambda: budget.held_bytes >= 2 * MB)
        may_admit.set()
        await reading
        assert budget.held_bytes == 0


async def _read(posting: object, until_word: bytes) -> None:
    async with posting as response:  # type: ignore[attr-defined]
        async for data in response.aiter_raw():
            if until_word in data:
                return


@pytest.mark.attack(
    "one user starts many large bodies, and completes none",
    "they count for that user; when the budget is spent the largest gets 503, and no other request",
)
async def test_bodies_that_are_not_whole_count_for_who_sends_them() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), held_bytes=3 * MB) as gateway,
        AsyncExitStack() as stack,
    ):
        budget = gateway.dialler.budget
        parked = []
        for _ in range(2):
            client = await stack.enter_async_context(RawClient(gateway))
            head = request(headers={**bearer("parks"), "content-length": "5000000"})
            await client.send(head + b" " * MB)
            parked.append(client)
        await until(lambda: budget.held_bytes == 2 * MB)

        other = await stack.enter_async_context(RawClient(gateway))
        body = json.dumps(ask_with_picture(1_500_000)).encode()
        await other.send(request(body, headers=bearer("other")))

        answers = [asyncio.create_task(client.read(12)) for client in parked]
        done, pending = await asyncio.wait(
            answers, return_when=asyncio.FIRST_COMPLETED, timeout=PATIENCE_S
        )
        assert {one.result()[-3:] for one in done} == {b"503"}
        assert len(pending) == 1, "the other one still has room"
        got = b""
        while b"[DONE]" not in got:
            got += await other.read()
        assert b"Hello" in got
        for one in pending:
            one.cancel()


async def test_what_waits_for_its_users_rate_ends_for_room_too() -> None:
    """A Redis that says nothing is waited for a while, and what was asked is held meanwhile."""
    asked_redis: list[object] = []

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked_redis.append(writer)
        await reader.read()
        writer.close()

    async with (
        await asyncio.start_server(say_nothing, "127.0.0.1", 0) as redis,
        ScriptedAgent() as agent,
        Gateway(
            agent.url(),
            held_bytes=3 * MB,
            turns_per_minute=9,
            rates_url=f"redis://127.0.0.1:{redis.sockets[0].getsockname()[1]}",
        ) as gateway,
        RawClient(gateway) as largest,
        RawClient(gateway) as parks,
    ):
        body = json.dumps(ask_with_picture(2_500_000)).encode()
        await largest.send(request(body, headers=bearer("largest")))
        await until(lambda: asked_redis)
        head = request(headers={**bearer("parks"), "content-length": "5000000"})
        await parks.send(head + b" " * MB)

        assert (await largest.read(12)).endswith(b"503")
        assert agent.connections == 0


async def test_a_body_that_has_no_room_is_a_503() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), held_bytes=MB) as gateway,
        new_client() as client,
    ):
        url = f"{gateway.url}/api/sessions/s1/chat"
        refused = await client.post(url, json=ask_with_picture(2 * MB), headers=bearer())
        assert refused.status_code == 503
        assert "retry-after" in refused.headers
        assert agent.connections == 0
        async with chatting(gateway) as chat:
            assert is_whole(await chat.end())
