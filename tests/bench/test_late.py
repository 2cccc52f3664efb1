"""The line to the Redis of the rig: late replies, and work that is recorded and repeated."""

import asyncio
import time
from pathlib import Path

import pytest

from gateway.waiting import PATIENCE_S
from turnwire_lab.bench import late
from turnwire_lab.bench.programs import START_S, Program, wait_for
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
    serving = asyncio.create_task(late.Line(server.sockets[0].getsockname()[1]).serve(port))
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


async def test_a_redis_gets_recorded_work_again_at_the_same_times(tmp_path: Path) -> None:
    port, redis_port = free_port(), free_port()
    options = ("--bind", HOST, "--port", str(redis_port), "--save", "", "--dir", str(tmp_path))
    redis = Program(
        "redis", ("redis-server", *options), on={0}, log=tmp_path / "log", port=redis_port
    )
    with redis:
        wait_for(redis.listens, START_S, "redis")
        line = late.Line(redis_port)
        serving = asyncio.create_task(line.serve(port))
        streams = [await _connected(port) for _ in range(2)]
        await _told(streams[0], b"SET before 1")
        await line.obey(late.RECORD)
        began = time.monotonic()
        await _told(streams[0], b"RPUSH a 1")
        await asyncio.sleep(0.2)
        await _told(streams[1], b"RPUSH a 2")
        took_s = time.monotonic() - began
        await line.obey(late.REST)
        assert await _told(streams[0], b"EXISTS a before") == b":0"

        await _told(streams[0], b"SET after 1")
        await line.obey(late.REPEAT)
        began = time.monotonic()
        for _ in range(1_000):
            if await _told(streams[0], b"LLEN a") == b":2":
                break
            await asyncio.sleep(0.01)
        assert time.monotonic() - began > 0.2
        assert await _told(streams[0], b"LLEN a") == b":2"
        assert await _told(streams[0], b"EXISTS before after") == b":0"

        await line.obey(late.REPEAT)
        await line.obey(late.REST)  # it is not repeated to its end
        await asyncio.sleep(took_s + 0.1)
        assert await _told(streams[1], b"EXISTS a") == b":0"
        for _, writer in streams:
            writer.close()
        serving.cancel()
        await asyncio.wait([serving])


async def _told(stream: tuple[asyncio.StreamReader, asyncio.StreamWriter], command: bytes) -> bytes:
    """The first line of the reply to a command."""
    reader, writer = stream
    writer.write(command + b"\r\n")
    async with asyncio.timeout(PATIENCE_S):
        return (await reader.readline()).strip()
