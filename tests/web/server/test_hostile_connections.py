"""Connections that no browser, proxy or HTTP library makes."""

import asyncio
import json
from typing import Any

import pytest

from gateway.agent import ScriptedAgent, answer, begin_only
from gateway.clients import RawClient, ask, get, request
from gateway.running import Gateway
from gateway.waiting import PATIENCE_S, until
from turnwire.errors import BadRequest
from turnwire.relay.memory_budget import Budget
from turnwire.relay.tcp import ClientSocket
from turnwire.relay.turn_stream import SOCKET_EXTENSION
from turnwire.web.request import Request
from turnwire.web.server.request_head import HEAD_BYTES_MAX, HEADERS_MAX


@pytest.mark.sockets
@pytest.mark.attack("a request behind an open stream", "the connection is cut, the turn aborted")
async def test_a_request_behind_an_open_stream_cuts_the_connection_and_the_turn_is_aborted() -> (
    None
):
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(request(json.dumps(ask()).encode()))
        line = await agent.line()
        await until(lambda: line.of_type("prompt"))
        await client.send(request(path="/healthz", method="GET"))

        await until(lambda: line.aborts)
        await until(lambda: line.closed)
        assert len(gateway.streams) == 0


@pytest.mark.sockets
@pytest.mark.attack(
    "one body for two requests", "refused: no byte of one request goes to the other"
)
async def test_the_body_of_a_request_behind_another_is_not_added_to_its() -> None:
    whole = json.dumps(ask()).encode()
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        read: list[bytes] = []
        body = Request.body

        async def noted(self: Request, *given: Any, **named: Any) -> bytes:
            read.append(await body(self, *given, **named))
            return read[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Request, "body", noted)
            await client.send(
                request(whole[:20]) + request(whole[20:], path="/api/sessions/s2/chat")
            )
            await client.read_all()
            await until(lambda: len(gateway.streams) == 0)

    assert whole not in read


@pytest.mark.sockets
async def test_requests_one_after_the_other_share_a_connection() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        for _ in range(2):
            await client.send(request(path="/healthz", method="GET"))
            got = b""
            while not got.endswith(b"ok\n"):
                got += await client.read()


@pytest.mark.sockets
@pytest.mark.parametrize(
    "begun",
    [
        b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-long: ",
        b"GET /healthz?",
        b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: y\r\nx-long: ",
    ],
)
@pytest.mark.fault("a request's head does not end", "400 at 64 KiB")
@pytest.mark.attack("a head without end", "400 at 64 KiB")
async def test_a_head_without_end_is_refused(begun: bytes) -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(begun)
        for _ in range(HEAD_BYTES_MAX // 8_192 + 1):
            await client.send(b"a" * 8_192)
        answer = await client.read_all()

        assert answer.startswith(b"HTTP/1.1 400 ")
        assert json.loads(answer.split(b"\r\n\r\n")[1])["code"] == "bad_request"
        assert (await get(gateway, "/healthz")).status_code == 200


@pytest.mark.sockets
@pytest.mark.attack("a head of more than 100 fields", "400")
async def test_a_head_of_too_many_fields_is_refused() -> None:
    for count, status in ((HEADERS_MAX, b"200"), (HEADERS_MAX + 1, b"400")):
        async with Gateway() as gateway, RawClient(gateway) as client:
            fields = b"host: x\r\nconnection: close\r\n" + b"x: y\r\n" * (count - 2)
            await client.send(b"GET /healthz HTTP/1.1\r\n" + fields + b"\r\n")

            assert (await client.read_all()).startswith(b"HTTP/1.1 " + status)


@pytest.mark.sockets
async def test_what_is_no_http_is_refused_in_the_words_of_all_refusals() -> None:
    async with Gateway() as gateway, RawClient(gateway) as client:
        await client.send(b"\x16\x03\x01 this is TLS\r\n\r\n")
        answer = await client.read_all()

    head, body = answer.split(b"\r\n\r\n")
    assert b"cache-control: no-store" in head
    assert json.loads(body).keys() == {"error", "code", "requestId"}


@pytest.mark.sockets
@pytest.mark.attack(
    "a request that began before the last response ended, and whose body comes slowly",
    "400 at its time limit",
)
async def test_a_request_is_not_whole_because_the_one_before_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Request.body, "__kwdefaults__", {"timeout_s": 0.2})
    body = json.dumps(ask()).encode()
    second = request(body, headers={"content-length": "100000"})
    async with (
        ScriptedAgent(answer) as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await client.send(request(body) + second[:1])
        got = b""
        while not got.endswith(b"\r\n0\r\n\r\n"):
            got += await client.read()
        await client.send(second[1:])
        answered = await asyncio.wait_for(client.read(), PATIENCE_S)

    assert answered.startswith(b"HTTP/1.1 400 ")
    assert b"too slowly" in answered


@pytest.mark.attack("a body, one byte at a time", "400 after 30 seconds")
@pytest.mark.parametrize("extensions", [{}, {SOCKET_EXTENSION: ClientSocket(asyncio.Transport())}])
async def test_a_body_that_does_not_come_is_not_waited_for(extensions: dict[str, Any]) -> None:
    async def never() -> Any:
        await asyncio.Event().wait()

    headers = [(b"content-type", b"application/json")]
    scope = {"headers": headers, "extensions": extensions}

    with pytest.raises(BadRequest, match="too slowly"):
        await Request(scope).body(never, 10, Budget().holder("u1"), timeout_s=0.01)
