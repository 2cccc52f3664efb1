"""What each proxy of `deploy/` must let through, as it comes."""

import asyncio
import json
from typing import Final

import pytest

from chaos.fronts import Nginx
from chaos.reader import Reader
from gateway import frames
from gateway.agent import Line, answer, begin_only
from gateway.clients import ask, is_whole, new_client, request
from gateway.reading import App
from gateway.tokens import bearer
from gateway.waiting import until
from proxies.edge import Edge
from proxies.fronts import Traefik

pytestmark = [
    pytest.mark.sockets,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_scope="module"),
]

DELTAS: Final = 20
FLOOD_BYTES: Final = 200_000_000
"""More than the kernel takes for all sockets on the way."""
HELD_BYTES: Final = 16_000_000


async def test_the_head_comes_before_the_agent_says_anything(edge: Edge) -> None:
    told = asyncio.Event()

    async def wait_then_tell(line: Line) -> None:
        await line.begin()
        await told.wait()
        await line.say(frames.delta("Hello"), frames.finalize())

    edge.plays(wait_then_tell)
    async with App(edge.front).prompt("hi") as chat:
        await chat.sees(": keepalive\n\n")
        headers = chat.response.headers
        told.set()
        body = await chat.end()

    assert is_whole(body)
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert headers["cache-control"] == "no-cache, no-transform"
    assert headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert "content-encoding" not in headers
    if not isinstance(edge.front, Nginx):  # which takes it for itself
        assert headers["x-accel-buffering"] == "no"


async def test_each_delta_comes_before_the_next_is_said(edge: Edge) -> None:
    seen = asyncio.Semaphore(0)

    async def one_by_one(line: Line) -> None:
        await line.begin()
        for number in range(DELTAS):
            await line.say(frames.delta(f"{number} "))
            await seen.acquire()
        await line.say(frames.finalize())

    edge.plays(one_by_one)
    async with App(edge.front).prompt("hi") as chat:
        for number in range(DELTAS):
            await chat.sees(f'"delta":"{number} "')
            seen.release()
        body = await chat.end()

    assert chat.response.request.headers["accept-encoding"].startswith("gzip")
    assert is_whole(body)


async def test_a_hang_up_reaches_the_agent_though_it_is_silent(edge: Edge) -> None:
    edge.plays(begin_only)
    async with App(edge.front).prompt("hi") as chat:
        await chat.sees("Hello")
        await chat.hang_up()
        await until(lambda: edge.lines[0].aborts)

    assert len(edge.lines) == 1


async def test_what_a_client_does_not_read_is_held_by_nobody(edge: Edge) -> None:
    """The agent stands still long before it has said it all, and the gateway cuts the stream."""
    piece = "x" * 64_000
    said = 0

    async def flood(line: Line) -> None:
        nonlocal said
        await line.begin()
        while said < FLOOD_BYTES:
            await line.say(frames.delta(piece))
            said += len(piece)
        await line.say(frames.finalize())

    edge.plays(flood)
    before = edge.held_bytes
    async with Reader(edge.front.port) as client:
        client.send(request(json.dumps(ask()).encode()))
        await client.sees(b"text-delta")
        client.stop_reading()
        await until(lambda: edge.outcomes["slow_client"])
        held = edge.held_bytes - before

    assert said < FLOOD_BYTES
    assert held < HELD_BYTES


async def test_a_session_stays_with_its_gateway(edge: Edge) -> None:
    """Three tries: a proxy that takes a busy gateway for dead, as it should, moves its sessions."""
    if isinstance(edge.front, Traefik):
        pytest.skip("Traefik cannot choose by what stands in the path")
    tries = [await sessions_by_gateway(edge, f"stays-{number}-") for number in range(3)]

    assert any(one.isdisjoint(other) and one and other for one, other in tries), tries


async def sessions_by_gateway(edge: Edge, prefix: str) -> tuple[set[str], set[str]]:
    """Eleven sessions with three turns each; which gateways they came to."""
    edge.plays(answer)
    async with new_client() as client:
        for number in range(33):
            url = f"{edge.front.url}/api/sessions/{prefix}{number % 11}/chat?number={number}"
            response = await client.post(url, json=ask(), headers=bearer())
            assert response.status_code == 200, (number, response.text)

    def ended() -> list[list[str]]:
        """The sessions of these streams: one of the test before may be reported only now."""
        sessions = ([line["session_id"] for line in lines] for lines in edge.ended)
        return [[each for each in mine if each.startswith(prefix)] for mine in sessions]

    await until(lambda: sum(map(len, ended())) == 33)
    one, other = map(set, ended())
    return one, other


async def test_metrics_and_all_else_are_hidden(edge: Edge) -> None:
    async with new_client() as client:
        for path in ("/metrics", "/openapi.json", "/", "/api/sessions/../../metrics"):
            assert (await client.get(edge.front.url + path)).status_code == 404
        for path in ("/healthz", "/readyz"):
            assert (await client.get(edge.front.url + path)).status_code == 200
