"""Sockets of gateways that do not read for a while."""

import asyncio
import socket as sockets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from gateway.waiting import PATIENCE_S
from runtime.host.hosted import QUICK, Hosted, Scripted, Socket, hosted, words
from turnwire_agent.host.driver import Ended, Turn
from turnwire_agent.session.deltas import TextAdded

pytestmark = pytest.mark.sockets

LARGE = 12_000_000
"""Characters that no buffer of a kernel takes."""
LITTLE = 90_000
SETTINGS = replace(QUICK, socket_bytes=100_000)


@asynccontextmanager
async def slow(host: Hosted) -> AsyncIterator[Socket]:
    """A socket that reads nothing until it is `awake`."""
    tcp = sockets.socket()
    tcp.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 65_536)
    tcp.setblocking(False)  # noqa: FBT003
    await asyncio.get_running_loop().sock_connect(tcp, ("127.0.0.1", host.port))
    url = "ws://127.0.0.1/api/sessions/s1/ws?role=client"
    async with connect(url, sock=tcp, compression=None, max_size=None, proxy=None) as connection:
        connection.transport.pause_reading()
        yield Socket(connection)


def awake(socket: Socket) -> None:
    socket.connection.transport.resume_reading()


class Story:
    """A turn that tells as it is asked to."""

    def __init__(self) -> None:
        self._wanted: asyncio.Queue[tuple[int, int]] = asyncio.Queue()

    async def turn(self, turn: Turn) -> Ended:
        while True:
            times, size = await self._wanted.get()
            if not size:
                return Ended()
            for _ in range(times):
                turn.add(TextAdded("x" * size))
                await turn.drain()
                await asyncio.sleep(0.002)
            self._wanted.task_done()

    async def tell(self, times: int, size: int) -> None:
        """Tell something, and wait until it is on its way."""
        self._wanted.put_nowait((times, size))
        await self._wanted.join()
        await asyncio.sleep(0.05)

    def end(self) -> None:
        self._wanted.put_nowait((0, 0))


async def test_a_large_frame_passes_and_others_may_wait_behind_it() -> None:
    story = Story()
    async with hosted(Scripted(story.turn), settings=SETTINGS) as host, slow(host) as socket:
        await socket.ask("tell")
        await story.tell(1, LARGE)
        await story.tell(9, 1_000)
        story.end()
        awake(socket)
        async with asyncio.timeout(PATIENCE_S):
            assert len(words(await socket.rest())) == LARGE + 9_000


async def test_behind_a_large_frame_no_more_may_wait_than_else() -> None:
    story = Story()
    async with hosted(Scripted(story.turn), settings=SETTINGS) as host, slow(host) as socket:
        await socket.ask("tell")
        await story.tell(1, LARGE)
        await story.tell(6, LITTLE)
        awake(socket)
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(ConnectionClosed):
                await socket.rest()


async def test_large_frames_one_after_another_do_not_wait() -> None:
    story = Story()
    async with hosted(Scripted(story.turn), settings=SETTINGS) as host, slow(host) as socket:
        await socket.ask("tell")
        await story.tell(2, LARGE)
        await story.tell(1, 1)
        awake(socket)
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(ConnectionClosed):
                await socket.rest()


async def test_once_a_large_frame_is_read_no_more_may_wait_than_before() -> None:
    story = Story()
    async with hosted(Scripted(story.turn), settings=SETTINGS) as host, slow(host) as socket:
        awake(socket)
        await socket.ask("tell")
        await story.tell(1, LARGE)
        async with asyncio.timeout(PATIENCE_S):
            await socket.until("message.part.text-delta")
        socket.connection.transport.pause_reading()
        await story.tell(LARGE // LITTLE, LITTLE)
        awake(socket)
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(ConnectionClosed):
                await socket.rest()


async def test_a_long_history_passes() -> None:
    story = Story()
    async with hosted(Scripted(story.turn), settings=SETTINGS) as host, host.socket() as asking:
        await asking.ask("tell")
        await story.tell(1, LARGE)
        async with slow(host) as socket:
            await story.tell(9, 1_000)
            awake(socket)
            async with asyncio.timeout(PATIENCE_S):
                (init,) = [await socket.next()]
                assert len(init["session"]["messages"][1]["parts"][0]["text"]) == LARGE
                story.end()
                assert len(words(await socket.rest())) == 9_000
