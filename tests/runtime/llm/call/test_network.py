"""Connections of calls, on the event loop's own transports."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpcore
import httpx
import pytest

from gateway import certificates
from gateway.waiting import until
from turnwire_agent.llm.call.network import READ_BYTES_MAX, Backend, Stream, Transport

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

LARGE = b"x" * (16 * READ_BYTES_MAX)


@asynccontextmanager
async def connected(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncIterator[Stream]:
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
    stream = await Backend().connect_tcp("127.0.0.1", server.sockets[0].getsockname()[1], 1)
    try:
        yield stream
    finally:
        await stream.aclose()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        server.close()
        await server.wait_closed()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)


async def floods(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(LARGE)
    await writer.drain()
    writer.close()
    await writer.wait_closed()


async def all_of(stream: Stream) -> bytes:
    pieces = []
    while piece := await stream.read(65536, 5):
        assert len(piece) <= 65536
        pieces.append(piece)
    return b"".join(pieces)


async def test_bytes_go_and_come() -> None:
    async with connected(echo) as stream:
        for word in (b"one", b"two"):
            await stream.write(word, 1)
            assert await stream.read(100, 1) == word
        await stream.write(b"three", 1)
        assert await stream.read(2, 1) + await stream.read(100, 1) == b"three"


async def test_a_reader_that_is_slow_makes_the_sender_wait() -> None:
    async with connected(floods) as stream:
        await asyncio.sleep(0.2)
        assert READ_BYTES_MAX < stream._incoming.size < len(LARGE) / 2
        assert await all_of(stream) == LARGE
        assert await stream.read(1) == b""


async def test_a_read_and_a_write_that_take_too_long_are_errors() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await asyncio.sleep(5)
        await reader.read()

    async with connected(silent) as stream:
        with pytest.raises(httpcore.ReadTimeout):
            await stream.read(1, 0.05)
        waiting = asyncio.create_task(stream.read(1, 5))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(httpcore.ReadTimeout):  # though a later time was set meanwhile
            await stream.read(1, 0.05)

        async def fill() -> None:
            for _ in range(100):  # until the buffers of the machine are full
                await stream.write(LARGE, 0.05)

        with pytest.raises(httpcore.WriteTimeout):
            await fill()


async def test_a_writer_waits_until_there_is_room() -> None:
    received = bytearray()

    async def slow(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            received.extend(data)

    async with connected(slow) as stream:
        await stream.write(LARGE, 5)
        await until(lambda: len(received) == len(LARGE))


async def test_a_closed_connection_neither_reads_nor_writes() -> None:
    async with connected(echo) as stream:
        await stream.aclose()
        with pytest.raises(httpcore.ReadError):
            await stream.read(1)
        with pytest.raises(httpcore.WriteError):
            await stream.write(b"x")


async def test_a_connection_that_the_other_end_closed_is_not_used_again() -> None:
    async def leaves(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await writer.wait_closed()

    async with connected(leaves) as stream:
        await until(lambda: stream.get_extra_info("is_readable"))
        assert await stream.read(1, 1) == b""


async def test_tls_is_spoken_with_who_can_be_trusted_alone(tmp_path: Path) -> None:
    certificates.authority_and_agent(tmp_path)
    tls, trusting = certificates.of_agent(tmp_path), certificates.trusting(tmp_path)

    async with connected(floods, tls) as stream:
        assert await stream.start_tls(trusting, "localhost", 5) is stream
        assert stream.get_extra_info("ssl_object") is not None
        assert await all_of(stream) == LARGE
    async with connected(echo, tls) as stream:
        with pytest.raises(httpcore.ConnectError, match="certificate"):
            await stream.start_tls(ssl.create_default_context(), "localhost", 5)
    async with connected(echo, tls) as stream:
        with pytest.raises(httpcore.ConnectError, match="certificate"):
            await stream.start_tls(trusting, "elsewhere", 5)


async def test_a_handshake_that_does_not_come_about_is_a_timeout() -> None:
    async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read(1)
        await asyncio.sleep(5)

    async with connected(silent) as stream:
        with pytest.raises(httpcore.ConnectTimeout):
            await stream.start_tls(ssl.create_default_context(), "localhost", 0.05)


async def test_nobody_there_is_an_error_of_the_client_library() -> None:
    async with httpx.AsyncClient(transport=Transport(1, 1)) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get("http://127.0.0.1:1/")
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1/")
