"""Connections of calls, on the event loop's own transports."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway import certificates
from gateway.waiting import until
from turnwire_agent.llm.call.http1.connection import READ_BYTES_MAX, Connection, connect

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

LARGE = b"x" * (16 * READ_BYTES_MAX)


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    tasks: set[asyncio.Task[None]] = set()

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await serve(reader, writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def connected(serve: Serve) -> AsyncIterator[Connection]:
    async with serving(serve) as port:
        connection = await connect("127.0.0.1", port, None, 5)
        try:
            yield connection
        finally:
            connection.abort()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)


async def floods(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(LARGE)
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def all_of(connection: Connection) -> bytes:
    pieces = []
    while piece := await connection.read(5):
        pieces.append(piece)
    return b"".join(pieces)


async def test_bytes_go_and_come() -> None:
    async with connected(echo) as connection:
        for word in (b"one", b"two"):
            await connection.write(word, 1)
            assert await connection.read(1) == word
        assert not connection.is_stale


async def test_a_reader_that_is_slow_makes_the_sender_wait() -> None:
    async with connected(floods) as connection:
        await asyncio.sleep(0.2)
        assert READ_BYTES_MAX < connection._size < len(LARGE) / 2
        assert await all_of(connection) == LARGE
        assert await connection.read(1) == b""


async def test_a_read_and_a_write_that_take_too_long_are_errors() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)
        await reader.read()

    async with connected(silent) as connection:
        with pytest.raises(httpx.ReadTimeout):
            await connection.read(0.05)
        waiting = asyncio.create_task(connection.read(5))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(httpx.ReadTimeout):  # though a later time was set meanwhile
            await connection.read(0.05)

        async def fill() -> None:
            for _ in range(100):  # until the buffers of the machine are full
                await connection.write(LARGE, 0.05)

        with pytest.raises(httpx.WriteTimeout):
            await fill()


async def test_a_writer_waits_until_there_is_room() -> None:
    received = bytearray()

    async def slow(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            received.extend(data)

    async with connected(slow) as connection:
        await connection.write(LARGE, 5)
        await until(lambda: len(received) == len(LARGE))


async def test_a_closed_connection_neither_reads_nor_writes() -> None:
    async with connected(echo) as connection:
        connection.abort()
        with pytest.raises(httpx.WriteError):
            await connection.write(b"x", 1)
        with pytest.raises(httpx.ReadError):
            await connection.read(1)


async def test_one_task_waits_for_a_connection() -> None:
    async with connected(echo) as connection:
        waiting = asyncio.create_task(connection.read(1))
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError, match="another task"):
            await connection.read(1)
        await connection.write(b"one", 1)
        assert await waiting == b"one"


async def test_a_connection_that_broke_is_an_error() -> None:
    async def breaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        tcp = writer.get_extra_info("socket")
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
        writer.transport.abort()

    async with connected(breaks) as connection:
        await connection.write(b"x", 1)
        with pytest.raises(httpx.ReadError):
            await connection.read(1)


async def test_a_connection_is_stale_that_has_ended_or_says_what_nobody_asked_for() -> None:
    async def leaves(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await writer.wait_closed()

    async def speaks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x")
        await reader.read()

    for serve in (leaves, speaks):
        async with connected(serve) as connection:
            await until(lambda: connection.is_stale)


async def test_tls_is_spoken_with_who_can_be_trusted_alone(tmp_path: Path) -> None:
    certificates.authority_and_agent(tmp_path)
    tls, trusting = certificates.of_agent(tmp_path), certificates.trusting(tmp_path)

    async with serving(floods, tls) as port:
        connection = await connect("localhost", port, trusting, 5)
        assert await all_of(connection) == LARGE
        connection.abort()
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await connect("localhost", port, ssl.create_default_context(), 5)
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await connect("127.0.0.1", port, trusting, 5)


async def test_a_handshake_that_does_not_come_about_is_a_timeout() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(1)
        await asyncio.sleep(5)

    async with serving(silent) as port:
        with pytest.raises(httpx.ConnectTimeout):
            await connect("localhost", port, ssl.create_default_context(), 0.05)


async def test_nobody_there_is_an_error() -> None:
    with pytest.raises(httpx.ConnectError):
        await connect("127.0.0.1", 1, None, 5)
    with pytest.raises(httpx.ConnectError):
        await connect("a" * 70 + ".invalid", 80, None, 5)
