"""The sockets to the agent: when bytes came, and which ping has its pong."""

import asyncio
from typing import Self

import pytest

from turnwire.conform.traffic import Traffic, WatchedDialler
from turnwire.relay.agent.dialer import Address, AgentSocket

pytestmark = pytest.mark.sockets
S = 20.0
"""For a busy machine."""


class Noted(AgentSocket):
    """A transport's socket that notes what it gets."""

    def __init__(self) -> None:
        self.read = b""
        self.calls: list[str] = []
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.read += data

    def eof_received(self) -> bool | None:
        self.calls.append("eof")
        return None

    def connection_lost(self, exc: Exception | None) -> None:
        self.calls.append("lost" if exc is None else repr(exc))

    def pause_writing(self) -> None:
        self.calls.append("pause")

    def resume_writing(self) -> None:
        self.calls.append("resume")

    def abort(self) -> None:
        self.calls.append("abort")


class Server:
    """A server whose one connection the test speaks for."""

    async def __aenter__(self) -> Self:
        self._met = asyncio.Event()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.traffic = Traffic()
        dialler = WatchedDialler(user_timeout_s=S)
        dialler.traffic = self.traffic
        port = self._server.sockets[0].getsockname()[1]
        self.socket = await dialler.dial(Address("127.0.0.1", port, is_tls=False), Noted)
        await self._met.wait()
        return self

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._met.set()

    async def say(self, data: bytes) -> None:
        """Send, and wait until the transport's socket has it."""
        expected = len(self.socket.read) + len(data)
        self.writer.write(data)
        async with asyncio.timeout(S):
            while len(self.socket.read) < expected:  # noqa: ASYNC110 (it has no event)
                await asyncio.sleep(0.005)

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()
        self._server.close()
        if self.socket.transport is not None:
            self.socket.transport.abort()


async def test_a_ping_is_a_masked_frame_and_its_pong_may_come_in_pieces() -> None:
    async with Server() as server:
        ping = server.traffic.ping()
        assert ping is not None
        frame = await server.reader.readexactly(2 + 4 + 32)
        assert frame == b"\x89\xa0\0\0\0\0" + ping.payload
        for piece in (b"\x81\x02hi" + ping.pong[:5], ping.pong[5:20]):
            await server.say(piece)
            assert ping.answered_at is None
        await server.say(ping.pong[20:] + b"\x81\x02ho")
        await ping.wait(S)
        assert ping.answered_at is not None
        assert ping.answered_at >= ping.sent_at
        assert server.socket.read == b"\x81\x02hi" + ping.pong + b"\x81\x02ho"


async def test_a_pong_is_no_byte_that_the_agent_sent_by_itself() -> None:
    async with Server() as server:
        ping = server.traffic.ping()
        assert ping is not None
        await server.say(ping.pong)
        assert server.traffic.longest_silence_s(0.0, ping.sent_at + S) == ping.sent_at + S
        await server.say(ping.pong)  # nobody asked for this one
        assert server.traffic.longest_silence_s(0.0, ping.sent_at + S) < ping.sent_at + S


async def test_the_pong_of_another_ping_is_none() -> None:
    async with Server() as server:
        first, second = server.traffic.ping(), server.traffic.ping()
        assert first is not None
        assert second is not None
        await server.say(first.pong)
        await second.wait(0.01)
        assert second.answered_at is None


async def test_only_an_open_socket_is_pinged() -> None:
    assert Traffic().ping() is None
    async with Server() as server:
        server.writer.close()
        async with asyncio.timeout(S):
            while "lost" not in server.socket.calls:  # noqa: ASYNC110 (it has no event)
                await asyncio.sleep(0.005)
        assert server.traffic.ping() is None
    assert server.socket.calls == ["eof", "lost"]


def test_a_silence_is_the_longest_time_without_a_byte() -> None:
    traffic = Traffic()
    assert traffic.longest_silence_s(1.0, 9.0) == 8.0
    for at in (0.5, 2.0, 3.0, 7.0, 30.0):
        traffic.note(at)
    assert traffic.longest_silence_s(1.0, 9.0) == 4.0
    assert traffic.longest_silence_s(2.5, 6.0) == 3.0


async def test_all_calls_reach_the_socket_of_the_transport() -> None:
    async with Server() as server:
        watched = server.traffic._newest
        assert watched is not None
        watched.pause_writing()
        watched.resume_writing()
        watched.abort()
    assert server.socket.calls[:3] == ["pause", "resume", "abort"]
