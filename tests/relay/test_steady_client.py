"""Clients that read slowly and steadily get all of it; what did not arrive is not `completed`."""

import asyncio
from typing import Final

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import SMALL_BUFFER, RawClient, chatting, is_whole
from gateway.running import Gateway
from gateway.waiting import until
from turnwire.web.server import server
from turnwire.web.server.http_protocol import HttpConnection

pytestmark = pytest.mark.sockets

END = b"0\r\n\r\n"

KERNEL_STALL_S: Final = 3
"""Long enough for several probes of a closed window. Linux limits its answers to one in half a
second (`tcp_invalid_ratelimit`): within a second of a busy machine a client may look vanished."""


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times are short here."""
    monkeypatch.setattr(server, "_CHECK_TICKS", 1)


class Answer:
    """A turn that is over at once, with an answer of so many bytes."""

    def __init__(self, size: int) -> None:
        self._size = size

    async def __call__(self, line: Line) -> None:
        await line.begin()
        await line.say(*[frames.delta("x" * 1000)] * (self._size // 1000), frames.finalize())


@pytest.mark.fault("the client reads a little from time to time", "nothing is lost")
async def test_a_client_whose_window_never_takes_a_whole_segment_gets_all_of_it() -> None:
    """Two thousand bytes a step; it takes many times the stall time, and of the kernel's patience.

    Its whole answer is in the kernel's buffers, so that nothing blocks at the gateway.
    """
    async with (
        ScriptedAgent(Answer(30_000)) as agent,
        Gateway(agent.url(), stall_s=1) as gateway,
        RawClient(gateway, receive_buffer=2048) as client,
    ):
        await client.chat()
        await until(lambda: agent.lines and agent.lines[0].closed)
        began, got = asyncio.get_running_loop().time(), b""
        while not got.endswith(END):
            piece = await client.read(1000)
            assert piece, "cut"
            got += piece
            await asyncio.sleep(0.1)  # the slowness is the fact here

        assert asyncio.get_running_loop().time() - began > 3
        assert got.count(b"x" * 1000) > 0
        assert b"[DONE]" in got
        await gateway.has_ended("completed")


async def test_one_that_reads_nothing_is_cut_though_nothing_blocks_at_the_gateway() -> None:
    """The agent says little, and goes on saying it: it is aborted."""

    async def little(line: Line) -> None:
        await line.begin()
        while line.is_open:
            await line.say(frames.delta("x" * 1000))
            await asyncio.sleep(0.005)

    async with (
        ScriptedAgent(little) as agent,
        Gateway(agent.url(), stall_s=KERNEL_STALL_S) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: agent.lines and agent.lines[0].aborts, 20)

        await gateway.has_ended("slow_client")
        assert gateway.counted("turnwire_client_blocks_total") == 0


@pytest.mark.fault(
    "the client reads nothing, and its answer is in the system's buffers",
    "the client is cut off after the stall time; if the turn was over by then, the outcome is "
    "`slow_client`",
)
async def test_an_answer_that_stays_in_the_buffers_is_not_completed() -> None:
    async with (
        ScriptedAgent(Answer(200_000)) as agent,
        Gateway(agent.url(), stall_s=KERNEL_STALL_S) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: agent.lines and agent.lines[0].closed)

        await gateway.has_ended("slow_client")
        assert gateway.ended("completed") == 0
        assert agent.lines[0].aborts == []
        await until(lambda: not gateway.server.server_state.connections)


@pytest.mark.parametrize("leave", [RawClient.reset, RawClient.hang_up])
async def test_a_client_that_leaves_before_it_has_the_end_is_gone(leave: object) -> None:
    assert callable(leave)
    async with (
        ScriptedAgent(Answer(200_000)) as agent,
        Gateway(agent.url(), stall_s=30) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: agent.lines and agent.lines[0].closed)
        leave(client)

        await gateway.has_ended("client_gone")
        assert gateway.ended("completed") == 0


async def test_one_that_closes_behind_its_answer_has_had_it() -> None:
    async with ScriptedAgent(Answer(20_000)) as agent, Gateway(agent.url()) as gateway:
        async with chatting(gateway) as chat:
            assert is_whole(await chat.end())

        await gateway.has_ended("completed")


@pytest.mark.parametrize("how", ["connection: close", "a stop of the gateway"])
async def test_a_connection_that_ends_with_its_answer_ends_when_that_is_read(how: str) -> None:
    """By a close of ours alone nobody would learn whether the rest arrived."""
    async with (
        ScriptedAgent(Answer(200_000)) as agent,
        Gateway(agent.url(), stall_s=30) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat(connection="close" if how == "connection: close" else "")
        await until(lambda: agent.lines and agent.lines[0].closed)
        if how != "connection: close":
            gateway.stop()
        await until(lambda: not len(gateway.streams))
        assert gateway.server.server_state.connections
        assert gateway.ended("completed") == 0

        assert (await client.read_all()).endswith(END)
        await gateway.has_ended("completed")
        await until(lambda: not gateway.server.server_state.connections)


async def test_a_request_before_the_last_answer_is_read_ends_the_connection() -> None:
    async with (
        ScriptedAgent(Answer(200_000)) as agent,
        Gateway(agent.url(), stall_s=30) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: agent.lines and agent.lines[0].closed)
        await client.chat()

        await gateway.has_ended("client_gone")
        assert len(agent.lines) == 1


async def test_an_idle_connection_is_kept_while_its_client_reads() -> None:
    async with (
        ScriptedAgent(Answer(200_000)) as agent,
        Gateway(agent.url(), stall_s=30) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: agent.lines and agent.lines[0].closed)
        (connection,) = gateway.server.server_state.connections
        assert isinstance(connection, HttpConnection)
        connection.timeout_keep_alive_handler()

        body = b""
        while not body.endswith(END):
            body += await client.read()
        assert await client.read() == b"", "and closed then"
        await gateway.has_ended("completed")


async def _read(client: RawClient, bytes_a_second: int) -> bytes:
    """All of an answer, or as much as came before it was cut."""
    got = b""
    while not got.endswith(END) and (piece := await client.read(bytes_a_second // 20)):
        got += piece
        await asyncio.sleep(0.05)  # the slowness is the fact here
    return got


@pytest.mark.fault(
    "the client reads so slowly that its system does not report it within the stall time",
    "it is cut off like a client that reads nothing; the outcome is `slow_client`",
)
async def test_one_whose_system_says_nothing_in_time_is_a_slow_client() -> None:
    """With buffers as they come a system says that its client reads every 100,000 bytes or so."""
    async with (
        ScriptedAgent(Answer(1_500_000)) as agent,
        Gateway(agent.url(), stall_s=KERNEL_STALL_S) as gateway,
        RawClient(gateway) as client,
    ):
        await client.chat()

        assert not (await _read(client, 10_000)).endswith(END)
        await gateway.has_ended("slow_client")
        assert gateway.ended("completed") == 0


async def test_one_whose_system_says_so_in_time_gets_all_of_it() -> None:
    async with (
        ScriptedAgent(Answer(1_500_000)) as agent,
        Gateway(agent.url(), stall_s=1) as gateway,
        RawClient(gateway) as client,
    ):
        await client.chat()

        assert (await _read(client, 300_000)).endswith(END)
        await gateway.has_ended("completed")
