"""Requests of the HTTP library over connections of our own, to a server that is scripted."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import httpx
import pytest

from gateway.waiting import until
from turnwire_agent.llm.call.http1 import pool as pools
from turnwire_agent.llm.call.http1.transport import HEAD_BYTES_MAX, Transport

OK = b"HTTP/1.1 200 OK\r\n"
SIZED = OK + b"content-length: 5\r\n\r\nhello"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"
CLOSES = OK + b"connection: close\r\ncontent-length: 5\r\n\r\nhello"
HANGS_UP = b""
"""As a part of an answer: the server closes the connection."""
PAUSES = b"(pause)"
"""As a part of an answer: for a moment nothing comes."""


class Server:
    """Answers each request with the next of some answers, and keeps the requests."""

    def __init__(self, answers: Sequence[Sequence[bytes]]) -> None:
        self._answers = iter(answers)
        self.requests: list[bytes] = []
        self.connections = self.open = 0
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.open += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length: ")[2].split(b"\r")[0]
                self.requests.append(head + await reader.readexactly(int(length or 0)))
                for part in next(self._answers):
                    if part == HANGS_UP:
                        return
                    if part == PAUSES:
                        await asyncio.sleep(0.2)
                        continue
                    writer.write(part)
                    await writer.drain()
                    await asyncio.sleep(0.01)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self.open -= 1


@asynccontextmanager
async def asking(
    *answers: Sequence[bytes], connections: int = 10, idle: int = 10
) -> AsyncIterator[tuple[Server, httpx.AsyncClient]]:
    server = Server(answers)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1?x=1"
    try:
        async with httpx.AsyncClient(transport=Transport(connections, idle), timeout=2) as client:
            yield server, client
    finally:
        await until(lambda: not server.open)
        listening.close()
        await listening.wait_closed()


async def test_a_request_is_sent_and_its_answer_comes() -> None:
    async with asking([SIZED]) as (server, client):
        response = await client.post(server.url, content=b"what?", headers={"x-key": "secret"})

        assert (response.status_code, response.text) == (200, "hello")
        assert response.http_version == "HTTP/1.1"
        assert response.reason_phrase == "OK"
        (request,) = server.requests
        assert request.startswith(b"POST /v1?x=1 HTTP/1.1\r\n")
        assert request.endswith(b"\r\n\r\nwhat?")
        assert b"X-Key: secret" in request or b"x-key: secret" in request


@pytest.mark.parametrize("answer", [SIZED, CHUNKED])
async def test_a_connection_is_used_again(answer: bytes) -> None:
    async with asking([answer], [answer], [answer]) as (server, client):
        for _ in range(3):
            assert (await client.get(server.url)).text == "hello"

        assert server.connections == 1


@pytest.mark.parametrize(
    ("answer", "sends"),
    [
        pytest.param([CLOSES], {}, id="the server says close"),
        pytest.param([SIZED.replace(b"1.1", b"1.0")], {}, id="an old server"),
        pytest.param([SIZED], {"connection": "close"}, id="the client says close"),
        pytest.param([SIZED + b"more"], {}, id="more than the body"),
        pytest.param([OK + b"\r\nhel", b"lo", HANGS_UP], {}, id="ends with the connection"),
        pytest.param([SIZED, HANGS_UP], {}, id="closed while it is idle"),
    ],
)
async def test_a_connection_is_not_used_again(answer: list[bytes], sends: dict[str, str]) -> None:
    async with asking(answer, answer) as (server, client):
        for _ in range(2):
            assert (await client.get(server.url, headers=sends)).text == "hello"
            await asyncio.sleep(0.05)

        assert server.connections == 2


async def test_a_connection_that_nobody_uses_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "KEEPALIVE_S", 0.1)
    async with asking([SIZED], [SIZED]) as (server, client):
        await client.get(server.url)
        await asyncio.sleep(0.05)
        await client.get(server.url)
        assert (server.connections, server.open) == (1, 1)

        await until(lambda: not server.open)


async def test_only_so_many_idle_connections_are_kept() -> None:
    async with asking(*[[SIZED]] * 4, idle=2) as (server, client):
        await asyncio.gather(*(client.get(server.url) for _ in range(4)))

        await until(lambda: server.open == 2)
        assert server.connections == 4


async def test_no_idle_connection_is_kept_where_none_may_be() -> None:
    async with asking([SIZED], [SIZED], idle=0) as (server, client):
        await client.get(server.url)
        await client.get(server.url)

        assert server.connections == 2


async def test_a_request_waits_for_a_free_connection() -> None:
    slow = [OK + b"content-length: 5\r\n\r\n", *[b"h"] * 5]
    async with asking(slow, slow, [SIZED], connections=1) as (server, client):
        first, second = await asyncio.gather(client.get(server.url), client.get(server.url))
        assert first.text == second.text == "hhhhh"
        assert server.connections == 1

        async with client.stream("GET", server.url):
            with pytest.raises(httpx.PoolTimeout):
                await client.get(server.url, timeout=httpx.Timeout(2, pool=0.05))


async def test_whoever_stops_reading_closes_the_connection() -> None:
    endless = [OK + b"transfer-encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 1000]
    async with asking(endless, [SIZED]) as (server, client):
        async with client.stream("GET", server.url) as response:
            async for _ in response.aiter_raw():
                break
        await until(lambda: not server.open)

        assert (await client.get(server.url)).text == "hello"


async def test_whoever_is_cancelled_closes_the_connection() -> None:
    async with asking([b""] * 0, [SIZED]) as (server, client):
        asked = asyncio.create_task(client.get(server.url))
        await until(lambda: bool(server.requests))
        asked.cancel()
        await asyncio.wait([asked])

        await until(lambda: not server.open)
        assert asked.cancelled()


async def test_interim_responses_mean_nothing() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"
    async with asking([interim, interim + SIZED]) as (server, client):
        assert (await client.get(server.url)).text == "hello"


async def test_a_head_that_comes_in_pieces() -> None:
    pieces = [SIZED[at : at + 7] for at in range(0, len(SIZED), 7)]
    async with asking(pieces) as (server, client):
        assert (await client.get(server.url)).text == "hello"


async def test_a_response_without_a_body() -> None:
    async with asking([b"HTTP/1.1 204 No Content\r\n\r\n"], [SIZED]) as (server, client):
        assert (await client.get(server.url)).content == b""
        assert (await client.get(server.url)).text == "hello"
        assert server.connections == 1


async def test_a_refusal_that_comes_before_all_was_sent_is_read() -> None:
    over = asyncio.Event()

    async def refuses(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig")
        await writer.drain()
        writer.write_eof()
        while await reader.read(65536):
            pass
        writer.transport.abort()
        await writer.wait_closed()
        over.set()

    listening = await asyncio.start_server(refuses, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    async with httpx.AsyncClient(transport=Transport(1, 1), timeout=5) as client:
        response = await client.post(url, content=b"x" * 4_000_000)
        assert (response.status_code, response.text) == (413, "big")
    await over.wait()
    listening.close()
    await listening.wait_closed()


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ([HANGS_UP], httpx.RemoteProtocolError),
        ([OK, HANGS_UP], httpx.RemoteProtocolError),
        ([b"no HTTP\r\n\r\n"], httpx.RemoteProtocolError),
        ([b"HTTP/1.1 101 Switching Protocols\r\n\r\n"], httpx.RemoteProtocolError),
        ([OK + b"x: " + b"y" * HEAD_BYTES_MAX], httpx.RemoteProtocolError),
        ([OK + b"content-length: 5\r\n\r\nhel", HANGS_UP], httpx.RemoteProtocolError),
        ([OK + b"transfer-encoding: chunked\r\n\r\nx\r\n"], httpx.RemoteProtocolError),
        ([OK + b"transfer-encoding: gzip\r\n\r\n"], httpx.RemoteProtocolError),
        ([OK + b"content-length: 5\r\n\r\nhel"], httpx.ReadTimeout),
        ([], httpx.ReadTimeout),
    ],
)
async def test_what_is_no_response_is_an_error(
    answer: list[bytes], error: type[httpx.HTTPError]
) -> None:
    async with asking(answer, [SIZED]) as (server, client):
        with pytest.raises(error):
            await client.get(server.url, timeout=0.3)
        await until(lambda: not server.open)

        assert (await client.get(server.url)).text == "hello"


async def test_what_cannot_be_sent_is_an_error() -> None:
    async with httpx.AsyncClient(transport=Transport(1, 1)) as client:
        with pytest.raises(httpx.ConnectError):
            await client.get("http://127.0.0.1:1/")
        with pytest.raises(httpx.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1/")
        with pytest.raises(httpx.LocalProtocolError):
            await _sent_badly(client)


async def _sent_badly(client: httpx.AsyncClient) -> None:
    async with asking([SIZED]) as (server, _):
        await client.get(server.url, headers={"x-key": "two\nlines"})


async def test_a_pool_that_is_closed_closes_what_is_used() -> None:
    endless = [OK + b"transfer-encoding: chunked\r\n\r\n", *[b"1\r\nx\r\n"] * 1000]
    transport = Transport(10, 10)
    async with asking(endless) as (server, _):
        client = httpx.AsyncClient(transport=transport)
        response = await client.send(client.build_request("GET", server.url), stream=True)
        assert server.open == 1
        await transport.aclose()
        await until(lambda: not server.open)
        with pytest.raises(httpx.HTTPError):
            async for _ in response.aiter_raw():
                pass
        await response.aclose()


async def test_a_body_gives_its_connection_up_once() -> None:
    """Another request may have it when whoever read the first one looks for more."""
    other = [OK + b"content-length: 5\r\n\r\nother"]
    held = [OK + b"content-length: 5\r\n\r\n", PAUSES, PAUSES, b"later"]
    async with asking([SIZED], held, other) as (server, client):
        first = await client.send(client.build_request("GET", server.url), stream=True)
        pieces = aiter(first.stream)  # type: ignore[arg-type] # it is asynchronous
        assert await anext(pieces) == b"hello"
        second = asyncio.create_task(client.get(server.url))
        await until(lambda: len(server.requests) == 2)
        assert await anext(pieces, None) is None
        await first.aclose()

        third = await client.get(server.url)

        assert (server.connections, third.text) == (2, "other")
        assert (await second).text == "later"


@pytest.mark.parametrize(
    "head",
    [
        b"content-length: 5\r\ntransfer-encoding: chunked\r\n",
        b"transfer-encoding: chunked\r\ncontent-length: 5\r\n",
    ],
)
async def test_a_body_of_two_ends_is_the_last_of_its_connection(head: bytes) -> None:
    answer = [OK + head + b"\r\n5\r\nhello\r\n0\r\n\r\n"]
    async with asking(answer, answer) as (server, client):
        for _ in range(2):
            assert (await client.get(server.url)).text == "hello"
        assert server.connections == 2


async def test_a_body_without_an_end_that_we_close_is_not_whole() -> None:
    transport = Transport(10, 10)
    async with asking([OK + b"\r\nhel", PAUSES, PAUSES]) as (server, _):
        client = httpx.AsyncClient(transport=transport)
        response = await client.send(client.build_request("GET", server.url), stream=True)
        reading = asyncio.create_task(response.aread())
        await asyncio.sleep(0.05)
        await transport.aclose()
        with pytest.raises(httpx.ReadError):
            await reading
        await response.aclose()


def test_another_event_loop_has_connections_of_its_own() -> None:
    transport = Transport(1, 1)

    async def ask() -> None:
        async with asking([SIZED]) as (server, _):
            client = httpx.AsyncClient(transport=transport)
            assert (await client.get(server.url)).text == "hello"

    for _ in range(2):
        with asyncio.Runner() as runner:
            runner.run(ask())
            with asyncio.Runner() as other, pytest.raises(RuntimeError, match="one event loop"):
                other.run(ask())
            runner.run(transport.aclose())
