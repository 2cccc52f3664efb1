"""The gateway is told to stop: what happens to streams, to readiness and to newcomers."""

import asyncio
import json
import socket

import httpx
import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.clients import (
    RawClient,
    ask,
    chatting,
    errors,
    get,
    is_whole,
    outline,
    post,
    request,
    said,
)
from gateway.rawagent import RawAgent
from gateway.running import Gateway
from gateway.waiting import PATIENCE_S, until

pytestmark = pytest.mark.sockets


async def test_an_open_turn_finishes_and_newcomers_are_refused() -> None:
    go_on = asyncio.Event()

    async def wait(line: Line) -> None:
        await begin_only(line)
        await go_on.wait()
        await line.say(frames.delta(" again"), frames.finalize())

    async with (
        ScriptedAgent(wait) as agent,
        Gateway(agent.url()) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        gateway.stop()
        await until(lambda: gateway._sock.fileno() == -1)
        with pytest.raises(httpx.ConnectError):
            await post(gateway)
        assert not chat.ended
        go_on.set()
        body = await chat.end()
        await gateway.stopped()

    assert said(body) == "Hello again"
    assert is_whole(body)
    await until(lambda: gateway.ended("completed") == 1)


async def test_a_newcomer_that_is_refused_is_no_stream_that_crashed() -> None:
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        gateway.streams.drain()

        assert (await post(gateway)).status_code == 503
        assert gateway.ended("crashed") == 0
        assert agent.connections == 0


async def test_what_was_accepted_before_the_door_closed_is_served() -> None:
    """Its request comes a moment after: a proxy could not send it to another gateway."""
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url()) as gateway,
        RawClient(gateway) as client,
    ):
        await until(lambda: gateway.server.server_state.connections)
        gateway.stop()
        await until(lambda: gateway._sock.fileno() == -1)
        await client.chat()

        assert b"[DONE]" in await client.read_all()
        await gateway.stopped()


async def test_so_is_what_nobody_but_the_kernel_had_accepted() -> None:
    """It resets such connections when their listener closes."""
    loop = asyncio.get_running_loop()
    async with ScriptedAgent() as agent, Gateway(agent.url()) as gateway:
        # The loop does not get to accept these before the door begins to close.
        clients = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(8)]
        await gateway.server._close_listeners([gateway._sock])
        answers = []
        for client in clients:
            client.setblocking(False)  # noqa: FBT003 (the library's signature)
            await loop.sock_sendall(client, request(json.dumps(ask()).encode()))
            answers.append(await _to_the_end(client))
            client.close()

    assert len(answers) == 8


async def _to_the_end(client: socket.socket) -> bytes:
    body = b""
    async with asyncio.timeout(PATIENCE_S):
        while b"[DONE]" not in body:
            piece = await asyncio.get_running_loop().sock_recv(client, 65_536)
            assert piece, "cut off"
            body += piece
    return body


async def test_over_the_drain_time_the_stream_says_so_and_the_turn_is_not_aborted() -> None:
    async with (
        ScriptedAgent(begin_only) as agent,
        Gateway(agent.url(), drain_s=0.2) as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        gateway.stop()
        body = await chat.end()
        await gateway.stopped()
        line = agent.lines[0]
        await until(lambda: line.closed)

    assert errors(body) == ["Gateway restarting"]
    assert outline(body)[-4:] == ["text-end", "finish-step", "error", "finish"]
    assert is_whole(body)
    assert line.aborts == []
    await until(lambda: gateway.ended("draining") == 1)


async def test_a_dial_that_outlasts_the_drain_is_ended_by_it() -> None:
    async with (
        RawAgent(hang=True) as agent,
        Gateway(agent.url(), drain_s=0.2, dial_s=5) as gateway,
    ):
        client = asyncio.create_task(post(gateway))
        await until(lambda: agent.requests)
        gateway.stop()
        response = await client
        await gateway.stopped()

    assert outline(response.text) == ["start", "error", "finish"]
    assert errors(response.text) == ["Gateway restarting"]


async def test_a_dial_still_has_its_own_limit_while_the_gateway_drains() -> None:
    async with (
        RawAgent(hang=True) as agent,
        Gateway(agent.url(), drain_s=60, dial_s=1.5) as gateway,
    ):
        client = asyncio.create_task(post(gateway))
        await until(lambda: agent.requests)
        gateway.streams.drain()
        response = await client

    assert errors(response.text) == ["Connection failed"]


async def test_a_prompt_that_comes_while_the_gateway_drains_is_not_asked() -> None:
    async with ScriptedAgent(begin_only) as agent, Gateway(agent.url()) as gateway:
        gateway.streams.drain()
        response = await post(gateway)

    assert response.status_code == 503
    assert response.headers["retry-after"]
    assert not agent.lines


async def test_a_lame_duck_is_not_ready_but_serves_until_its_time_is_over() -> None:
    async with (
        ScriptedAgent() as agent,
        Gateway(agent.url(), lameduck_s=0.5) as gateway,
    ):
        assert (await get(gateway, "/readyz")).status_code == 200
        gateway.stop()
        await until(lambda: not gateway.health.is_ready)

        assert (await get(gateway, "/readyz")).status_code == 503
        assert (await get(gateway, "/healthz")).status_code == 200
        assert is_whole((await post(gateway)).text)
        assert not gateway.streams.draining

        await gateway.stopped()
        assert gateway.streams.draining


async def test_a_second_signal_ends_the_wait_of_a_lame_duck() -> None:
    async with Gateway(lameduck_s=60) as gateway:
        gateway.stop()
        await until(lambda: not gateway.health.is_ready)
        gateway.stop()
        await gateway.stopped()

        assert gateway.streams.draining


async def test_an_idle_connection_does_not_hold_the_gateway_up() -> None:
    async with Gateway(drain_s=30) as gateway, RawClient(gateway) as client:
        await until(lambda: gateway.server.server_state.connections)
        gateway.stop()
        await asyncio.wait_for(gateway.stopped(), PATIENCE_S)

        assert await client.read() == b""
