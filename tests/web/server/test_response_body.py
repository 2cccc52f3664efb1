"""The short ways of a head, a chunk and an end: the same bytes as uvicorn's, or uvicorn's own."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from turnwire.relay.client_writer import BODY_EXTENSION
from turnwire.relay.rounds import Rounds
from turnwire.web.server.http_protocol import HttpConnection
from turnwire.web.server.response_body import ChunkedBody, ResponseBodyMiddleware
from web.server.written import WrittenTransport

START: Any = {"type": "http.response.start", "status": 200, "headers": []}
END: Any = {"type": "http.response.body", "body": b"", "more_body": False}


class Request:
    """A request that the application has, and does not answer by itself."""

    def __init__(self, method: str = "POST", *, more: str = "") -> None:
        self.wire = WrittenTransport()
        config = Config(ResponseBodyMiddleware(self._app), interface="asgi3", log_config=None)
        config.load()
        state = ServerState()
        state.default_headers = [(b"date", b"today")]
        self.connection = HttpConnection(config, state, {}, rounds=Rounds())
        self._asked: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.connection.connection_made(self.wire)
        head = f"{method} / HTTP/1.1\r\nhost: a\r\n{more}\r\n"
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


STREAM: Any = START | {"headers": [(b"content-type", b"text/event-stream"), (b"x-a", b"\xe9\t1")]}


async def started(request: Request, start: Any, *, first_data: bytes) -> bytes:
    """Send a head and its first chunk. Returns all that was written."""
    body = await request.body()
    body.first_data = first_data
    await request.send(start)
    if body.first_data or not first_data:
        await body.send(part(b"first"))
    return request.wire.written


@pytest.mark.parametrize("start", [START, STREAM])
async def test_a_head_takes_the_first_chunk_along(start: Any) -> None:
    request = Request()
    writes: list[bytes] = []
    request.wire.write = writes.append  # type: ignore[assignment,method-assign]
    body = await request.body()
    body.first_data = b"first"
    await request.send(start)

    assert body.first_data == b""
    assert writes == [await started(Request(), start, first_data=b"")]
    assert body.write(b"second")
    body.first_data = b"again"
    with pytest.raises(RuntimeError, match="Expected ASGI"):
        await request.send(start)
    assert body.first_data == b"again"
    assert len(writes) == 2


async def test_no_head_is_written_for_a_client_that_left() -> None:
    request = Request()
    (await request.body()).first_data = b"first"
    lose(request)
    await request.send(START)

    assert request.wire.written == b""


async def test_a_client_that_waits_for_leave_to_go_on_has_it_with_the_head() -> None:
    request = Request(more="expect: 100-continue\r\ncontent-length: 1\r\n")
    written = await started(request, START, first_data=b"first")
    assert not request.connection.cycle.waiting_for_100_continue

    receiving = asyncio.ensure_future(request.connection.cycle.receive())
    await asyncio.sleep(0)
    assert request.wire.written == written
    request.connection.data_received(b"x")
    message: Any = await receiving
    assert message["body"] == b"x"


@pytest.mark.parametrize(
    ("method", "more", "start"),
    [
        ("HEAD", "", STREAM),
        ("POST", "connection: close\r\n", STREAM),
        ("POST", "", START | {"status": 404}),
        ("POST", "", START | {"headers": [(b"connection", b"close")]}),
        ("POST", "", START | {"headers": [(b"content-length", b"5")]}),
        ("POST", "", START | {"headers": [(b"transfer-encoding", b"chunked")]}),
        ("POST", "", START | {"headers": [(b"X-Upper", b"1")]}),
    ],
)
async def test_any_other_head_is_the_servers(method: str, more: str, start: Any) -> None:
    request = Request(method, more=more)
    body = await request.body()
    body.first_data = b"first"
    await request.send(start)
    plain = await started(Request(method, more=more), start, first_data=b"")

    assert body.first_data == b"first"
    await body.send(part(b"first"))
    assert request.wire.written == plain


@pytest.mark.parametrize("header", [(b"x", b"a\r\ny: b"), (b"x", b"a\0"), (b"x: y", b"a")])
async def test_a_field_that_would_be_more_than_one_is_refused(header: tuple[bytes, bytes]) -> None:
    request = Request()
    (await request.body()).first_data = b"first"

    with pytest.raises(RuntimeError, match="Invalid HTTP header"):
        await request.send(START | {"headers": [header]})
    assert request.wire.written == b""


async def test_a_head_waits_for_a_client_that_does_not_read() -> None:
    request = Request()
    body = await request.body()
    body.first_data = b"first"
    pause(request)
    sending = asyncio.ensure_future(request.send(START))
    await asyncio.sleep(0)
    assert request.wire.written == b""

    request.connection.resume_writing()
    await sending
    assert body.first_data == b"first"
    assert request.wire.written.startswith(b"HTTP/1.1 200 OK")


async def test_an_end_is_what_the_server_would_write() -> None:
    short, long = Request(), Request()
    for request in (short, long):
        await started(request, STREAM, first_data=b"first")
        request.connection.cycle.message_event.clear()  # as who waits for the client's end does
    last: Any = {"type": "http.response.body", "body": b"last", "more_body": False}

    assert (await short.body()).end(b"last")
    await long.send(last)

    assert short.wire.written == long.wire.written
    for request in (short, long):
        cycle = request.connection.cycle
        assert cycle.response_complete
        assert cycle.message_event.is_set()
        assert request.connection.timeout_keep_alive_task is not None
        with pytest.raises(RuntimeError, match="already completed"):
            await request.send(last)


async def test_a_head_takes_the_whole_body_along() -> None:
    short, long = Request(), Request()
    writes: list[bytes] = []
    short.wire.write = writes.append  # type: ignore[assignment,method-assign]
    body = await short.body()
    body.first_data, body.is_first_last = b"first", True
    for request in (short, long):
        await long.body()
        request.connection.cycle.message_event.clear()
    await short.send(STREAM)
    await long.send(STREAM)
    await long.send(part(b"first") | {"more_body": False})

    assert body.first_data == b""
    assert writes == [long.wire.written]
    for request in (short, long):
        cycle = request.connection.cycle
        assert cycle.response_complete
        assert cycle.message_event.is_set()
        assert request.connection.timeout_keep_alive_task is not None


@pytest.mark.parametrize("what", [pause, lose])
async def test_no_end_is_written_when_it_would_wait_or_be_lost(
    what: Callable[[Request], None],
) -> None:
    request = Request()
    before = await started(request, START, first_data=b"first")
    what(request)

    assert not (await request.body()).end(b"last")
    assert request.wire.written == before


async def test_an_end_that_is_more_than_a_write_is_the_servers() -> None:
    for request, data in (
        (Request(), b""),
        (Request(more="connection: close\r\n"), b"last"),
        (Request("HEAD"), b"last"),
    ):
        before = await started(request, START, first_data=b"")
        assert not (await request.body()).end(data)
        assert request.wire.written == before
