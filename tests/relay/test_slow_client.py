"""A client that does not read: the agent is paused, memory is bounded, and in the end it is cut."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import SMALL_BUFFER, RawClient, is_whole, post, request, said
from gateway.lateness import lateness
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import PATIENCE_S, until
from turnwire.relay.memory_budget import Budget

pytestmark = pytest.mark.sockets

MB = 1_000_000
PIECE = frames.raw(frames.text(frames.delta("x" * 50_000)).encode())


class Flood:
    """An agent that says 50 KB after 50 KB for as long as they are taken."""

    def __init__(self, most: int = 40 * MB) -> None:
        self.sent = 0
        self._most = most

    async def __call__(self, line: Line) -> None:
        await line.begin()
        while self.sent < self._most and line.is_open:
            line.connection.transport.write(PIECE)
            self.sent += len(PIECE)
            await until(
                lambda: (
                    not line.is_open or line.connection.transport.get_write_buffer_size() < 65_536
                ),
                20,
            )
        if line.is_open:
            await line.say(frames.finalize())


async def stuck(flood: Flood) -> None:
    """Wait until the agent gets nothing off any more."""
    before = -1
    while before != flood.sent:
        before = flood.sent
        await asyncio.sleep(0.15)


@pytest.mark.attack(
    "a client that does not read its stream",
    "the agent is paused, and the client is cut off after the stall time",
)
async def test_the_agent_is_paused_and_the_client_cut_after_the_stall_time() -> None:
    flood = Flood()
    async with (
        ScriptedAgent(flood) as agent,
        Gateway(agent.url(), stall_s=1) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        line = await agent.line()
        await stuck(flood)

        assert 0 < flood.sent < 20 * MB
        assert not line.closed

        await until(lambda: line.closed)
        await gateway.has_ended("slow_client")
        assert len(line.aborts) == 1
        await until(lambda: not gateway.server.server_state.connections)
        body = await client.read_all()
        assert b"[DONE]" not in body


async def test_what_one_read_brought_is_held_whatever_the_backlog() -> None:
    """Only what came beyond the read that found the client blocked counts."""
    flood = Flood()
    async with (
        ScriptedAgent(flood) as agent,
        Gateway(agent.url(), stall_s=30, backlog_bytes=1) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await stuck(flood)

        assert len(gateway.streams) == 1, "one read may be of any size"


async def test_a_client_that_reads_slowly_gets_everything() -> None:
    flood = Flood(6 * MB)
    async with (
        ScriptedAgent(flood) as agent,
        Gateway(agent.url(), stall_s=1) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        got: list[bytes] = []
        async with asyncio.timeout(PATIENCE_S):
            while not (got and got[-1].endswith(b"0\r\n\r\n")):
                got.append(await client.read(200_000))
        text = b"".join(got)

        assert text.count(b"x" * 1000) > 0
        assert b"data: [DONE]" in text
        await gateway.has_ended("completed")


async def test_pausing_does_not_count_as_the_agents_silence() -> None:
    flood = Flood(12 * MB)
    async with (
        ScriptedAgent(flood) as agent,
        Gateway(agent.url(), idle_s=0.4, stall_s=5) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await stuck(flood)
        await asyncio.sleep(0.6)  # longer than the agent may be silent
        assert gateway.ended("silent") == 0
        async with asyncio.timeout(PATIENCE_S):
            while not (await client.read(1_000_000)).endswith(b"0\r\n\r\n"):
                pass

        await gateway.has_ended("completed")


async def test_a_client_that_leaves_while_it_blocks_aborts_and_frees_the_agent_in_a_second() -> (
    None
):
    flood = Flood()
    async with ScriptedAgent(flood) as agent, Gateway(agent.url(), stall_s=60) as gateway:
        async with RawClient(gateway, receive_buffer=SMALL_BUFFER) as client, lateness() as late:
            await client.chat()
            line = await agent.line()
            await stuck(flood)
            client.reset()
            left_at = asyncio.get_running_loop().time()
            await until(lambda: line.closed)

            assert line.closed_at is not None
            assert line.closed_at - left_at - late.s < 1
            assert len(line.aborts) == 1
            assert line.heard_at[-1] - left_at - late.s < 0.25
        await gateway.has_ended("client_gone")


async def test_one_slow_client_does_not_slow_another() -> None:
    flood = Flood()

    async def either(line: Line) -> None:
        if line.path.endswith("/s2/ws"):
            await line.begin()
            await line.say(frames.delta("quick"), frames.finalize())
        else:
            await flood(line)

    async with (
        ScriptedAgent(either) as agent,
        Gateway(agent.url(), stall_s=60) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
        lateness() as late,
    ):
        await client.chat()
        await stuck(flood)
        late.s = 0.0
        started = asyncio.get_running_loop().time()
        response = await post(gateway, session="s2")

        assert asyncio.get_running_loop().time() - started - late.s < 0.5
        assert said(response.text) == "quick"


async def test_an_end_that_the_client_does_not_take_is_cut_after_the_stall_time() -> None:
    """And is told as one of a slow client, though the agent's turn was completed."""

    async def shout(line: Line) -> None:
        await line.begin()
        await line.say(frames.finalize(finalText="x" * 12 * MB))

    async with (
        ScriptedAgent(shout) as agent,
        Gateway(agent.url(), stall_s=0.5) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await gateway.has_ended("slow_client")
        await until(lambda: not gateway.server.server_state.connections)

        body = await client.read_all()
        assert b"[DONE]" not in body
        assert agent.lines[0].aborts == []
        assert gateway.ended("completed") == 0


async def test_a_long_write_is_cut_in_pieces_so_that_progress_is_seen() -> None:
    """One delta of 12 MB takes a slow client longer than the stall time; it reads, so it stays."""
    words = "y" * 12 * MB

    async def shout(line: Line) -> None:
        await line.begin()
        await line.say(frames.delta(words), frames.finalize())

    async with ScriptedAgent(shout) as agent, Gateway(agent.url(), stall_s=0.3) as gateway:
        response = await post(gateway)

    assert said(response.text) == words
    assert is_whole(response.text)
    assert json.dumps(words)[1:-1] in response.text


def blocked(budget: Budget) -> int:
    """Of how many requests something waits for their clients."""
    holders = [holder for user in budget._users.values() for holder in user.holders]
    parts = [
        {part.on_end.__name__ for part in each._reservations if part.held_bytes} for each in holders
    ]
    return sum("client_overflowed" in each for each in parts)


@pytest.mark.attack(
    "a viewer resumes a long turn on many connections, and reads very little",
    "the bytes that each client has not taken count; when the budget is spent, the largest "
    "stream is cut off as a slow client",
)
async def test_what_one_read_brought_counts_for_all_together() -> None:
    """It is nobody's backlog, and yet the process holds it."""
    size = 10 * MB  # the kernel takes four of them at most

    async def running(line: Line) -> None:
        parts = [{"type": "text", "text": "x" * size, "streaming": True}]
        turn = {"id": frames.TURN, "role": "assistant", "parts": parts}
        data = {"runnerBusy": True, "runningTurnId": frames.TURN}
        await line.say({"type": "init", "session": {"messages": [turn]}, "data": data})

    path = "/api/sessions/s1/chat/chat-1/stream"
    resume = request(path=path, method="GET", headers={"content-length": "0"})
    async with (
        ScriptedAgent(running) as agent,
        Gateway(agent.url(), stall_s=30) as gateway,
        AsyncExitStack() as stack,
    ):
        budget = gateway.dialler.budget
        clients = []
        for _ in range(2):
            client = await stack.enter_async_context(
                RawClient(gateway, receive_buffer=SMALL_BUFFER)
            )
            await client.send(resume)
            clients.append(client)
        await until(lambda: blocked(budget) == 2, 20)
        assert gateway.counted("turnwire_held_bytes") > 2 * 5 * MB

        budget._most_bytes = budget.held_bytes + MB
        other = request(headers={**bearer("other"), "content-length": f"{3 * MB}"})
        client = await stack.enter_async_context(RawClient(gateway))
        clients.append(client)
        await client.send(other + b" " * (2 * MB))
        await gateway.has_ended("slow_client")
        assert gateway.ended("interrupted") == 0
        for client in clients:
            client.reset()
