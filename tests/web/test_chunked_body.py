"""The short way of a chunk, past the ASGI `send`: the same bytes, or none at all."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from turnwire.relay.stream import BODY_EXTENSION
from turnwire.web.http import ChunkedBody, HttpConnection

START: Any = {"type": "http.response.start", "status": 200, "headers": []}
END: Any = {"type": "http.response.body", "body": b"", "more_body": False}


class Wire(asyncio.Transport):
    """Keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class Request:
    """A request that the application has, and does not answer by itself."""

    def __init__(self, method: str = "POST") -> None:
        self.wire = Wire()
        config = Config(self._app, interface="asgi3", log_config=None)
        config.load()
        self.connection = HttpConnection(config, ServerState(), {})
        self._asked: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.connection.connection_made(self.wire)
        head = f"{method} / HTTP/1.1\r\nhost: a\r\n\r\n"
        self.connection.data_received(head.encode())

    async def _app(self, scope: Any, _receive: object, send: Any) -> None:
        self.send = send
        self._asked.set_result(scope["extensions"][BODY_EXTENSION])
        await asyncio.Event().wait()

    async def body(self) -> ChunkedBody:
        body = (await self._asked)()
        assert isinstance(body, ChunkedBody)
        return body


def part(data: bytes) -> Any:
    return {"type": "http.response.body", "body": data, "more_body": True}


@pytest.mark.parametrize("data", [b"", b"x", b"data: 1\n\n" * 7, bytes(70_000)])
async def test_a_chunk_is_what_the_server_would_write(data: bytes) -> None:
    written = []
    for is_short in (True, False):
        request = Request()
        body = await request.body()
        await request.send(START)
        request.wire.written = b""
        if is_short:
            assert body.write(data)
        else:
            await body.send(part(data))
        await body.send(END)
        written.append(request.wire.written)

    assert written[0] == written[1] != b""


async def test_nothing_is_written_before_the_head() -> None:
    request = Request()
    body = await request.body()

    assert not body.write(b"x")
    assert request.wire.written == b""


def pause(request: Request) -> None:
    request.connection.pause_writing()


def lose(request: Request) -> None:
    request.connection.connection_lost(None)


@pytest.mark.parametrize("what", [pause, lose])
async def test_nothing_is_written_when_it_would_wait_or_be_lost(
    what: Callable[[Request], None],
) -> None:
    request = Request()
    body = await request.body()
    await request.send(START)
    before = request.wire.written
    what(request)

    assert not body.write(b"x")
    assert request.wire.written == before


async def test_nothing_is_written_behind_the_end() -> None:
    request = Request()
    body = await request.body()
    await request.send(START)
    await body.send(END)
    before = request.wire.written

    assert not body.write(b"x")
    assert request.wire.written == before


async def test_a_head_has_no_body() -> None:
    request = Request("HEAD")
    body = await request.body()
    await request.send(START)
    before = request.wire.written

    assert not body.write(b"x")
    assert request.wire.written == before
