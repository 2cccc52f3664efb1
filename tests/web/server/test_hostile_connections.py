"""Connections that no browser, proxy or HTTP library makes."""

import asyncio
import json
from typing import Any

import pytest

from gateway.agent import ScriptedAgent, answer, begin_only
from gateway.clients import RawClient, ask, request
from gateway.running import Gateway
from gateway.waiting import PATIENCE_S, until
from turnwire.web.request import Request


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
