"""The proxy itself: each of its harms is what it says, or the tests that use it prove nothing."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from turnwire_lab.faultproxy import FaultProxy, Harm, Way

pytestmark = pytest.mark.sockets

SAID = bytes(range(256)) * 40


class Far:
    """A server that says `SAID` to all who come, ends its side, and keeps what it hears."""

    def __init__(self) -> None:
        self.heard = b""
        self.ended = asyncio.Event()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        async with server:
            yield server.sockets[0].getsockname()[1]

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(SAID)
        try:
            await writer.drain()
            writer.write_eof()
            while data := await reader.read(65_536):
                self.heard += data
        except OSError:
            self.heard += b" (reset)"
        finally:
            self.ended.set()
            writer.close()


@asynccontextmanager
async def through(
    there: Way | None = None, back: Way | None = None
) -> AsyncIterator[tuple[Far, asyncio.StreamReader, asyncio.StreamWriter]]:
    far = Far()
    async with far.listening() as port, FaultProxy(port, there=there, back=back) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
        try:
            yield far, reader, writer
        finally:
            writer.transport.abort()


@pytest.mark.parametrize(
    "way", [Way(), Way(latency_s=0.05), Way(piece_bytes=1), Way(piece_bytes=1000, pause_s=0.001)]
)
async def test_without_harm_every_byte_arrives_both_ways(way: Way) -> None:
    async with through(way, way) as (far, reader, writer):
        writer.write(SAID)
        writer.write_eof()

        assert await reader.read(-1) == SAID
        await far.ended.wait()
        assert far.heard == SAID


async def test_a_latency_delays_and_does_not_dam() -> None:
    clock = asyncio.get_running_loop().time
    began = clock()
    async with through(back=Way(latency_s=0.2)) as (_, reader, _):
        assert await reader.read(-1) == SAID
        assert clock() - began >= 0.2


async def test_a_cut_lets_so_many_bytes_through_and_ends_both_sides() -> None:
    async with through(back=Way(cut_after=100)) as (far, reader, _):
        assert await reader.read(-1) == SAID[:100]
        await far.ended.wait()


async def test_a_reset_is_one() -> None:
    async with through(back=Way(cut_after=100, harm=Harm.RESET)) as (far, reader, _):
        with pytest.raises(ConnectionResetError):
            await reader.read(-1)
        await far.ended.wait()
        assert far.heard == b" (reset)"


async def test_half_a_close_leaves_the_other_way_open() -> None:
    way = Way(cut_after=100, harm=Harm.HALF_CLOSE)
    async with through(back=way) as (far, reader, writer):
        assert await reader.read(-1) == SAID[:100]
        writer.write(SAID)
        writer.write_eof()
        await far.ended.wait()
        assert far.heard == SAID


@pytest.mark.parametrize("harm", [Harm.SWALLOW, Harm.STALL])
async def test_who_swallows_or_stalls_tells_nobody_of_the_end(harm: Harm) -> None:
    async with through(back=Way(cut_after=100, harm=harm)) as (far, reader, writer):
        assert await reader.readexactly(100) == SAID[:100]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.read(1), 0.2)
        writer.write(SAID)
        writer.write_eof()
        await far.ended.wait()
        assert far.heard == SAID


async def test_who_stalls_makes_the_sender_wait() -> None:
    async with through(there=Way(cut_after=100, harm=Harm.STALL)) as (far, _, writer):
        writer.write(SAID * 4000)  # 40 MB: more than the kernel keeps
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(writer.drain(), 0.3)
        assert far.heard == SAID[:100]


async def test_a_port_where_nobody_listens_closes_at_once() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        async with FaultProxy(probe.getsockname()[1]) as proxy:
            reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port)
            assert await reader.read(-1) == b""
            writer.close()
            assert proxy.connections == 1
