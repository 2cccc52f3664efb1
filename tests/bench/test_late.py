"""The line to the Redis of the rig: replies come whole, in order, and a millisecond late."""

import asyncio

import pytest

from gateway.waiting import PATIENCE_S
from turnwire_lab.bench import late
from turnwire_lab.process import HOST, free_port

pytestmark = pytest.mark.sockets


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
    writer.close()


async def _connected(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await asyncio.open_connection(HOST, port)
            except OSError:
                await asyncio.sleep(0.01)


async def test_a_reply_comes_whole_and_late() -> None:
    port = free_port()
    server = await asyncio.start_server(_echo, HOST, 0)
    serving = asyncio.create_task(late.serve(port, server.sockets[0].getsockname()[1]))
    reader, writer = await _connected(port)
    clock = asyncio.get_running_loop().time
    took_s = []
    for number in range(20):
        began = clock()
        writer.write(b"%03d" % number)
        assert await reader.readexactly(3) == b"%03d" % number
        took_s.append(clock() - began)
    writer.write(bytes(1_000_000))
    assert await reader.readexactly(1_000_000) == bytes(1_000_000)
    writer.close()
    await writer.wait_closed()
    serving.cancel()
    await asyncio.wait([serving])
    server.close()

    assert min(took_s) > 0.9 * late.LATE_S
    assert sorted(took_s)[10] < 20 * late.LATE_S
