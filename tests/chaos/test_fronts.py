"""What the proxies of `deploy/` must let through, and what they must not."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from chaos.fronts import Front, Haproxy, Nginx
from chaos.reader import Reader
from chaos.verdicts import NONE, agree, verdict
from gateway import frames
from gateway.agent import Line, Script, ScriptedAgent, begin_only
from gateway.clients import ask, new_client, said
from gateway.reading import App
from gateway.served import Served
from gateway.tokens import bearer
from gateway.waiting import until
from support.form import LONG

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

HALF_A_HEAD = b"POST /api/sessions/s1/chat HTTP/1.1\r\nhost: x\r\nx-"
HALF_A_BODY = HALF_A_HEAD + b"y: z\r\ncontent-length: 9\r\n\r\n{"

each_front = pytest.mark.parametrize("kind", [Nginx, Haproxy])


@asynccontextmanager
async def behind(
    kind: type[Front], folder: Path, script: Script
) -> AsyncIterator[tuple[ScriptedAgent, Served, Front]]:
    """One gateway behind a proxy; where the other should be, nobody listens."""
    async with (
        ScriptedAgent(script) as agent,
        Served(agent.url()) as gateway,
        kind(folder, (gateway.port, 1)) as front,
    ):
        yield agent, gateway, front


@each_front
@pytest.mark.fault("a proxy that could buffer or compress", "each record arrives on its own")
async def test_nothing_is_buffered_compressed_or_lost_on_the_way(
    kind: type[Front], tmp_path: Path
) -> None:
    seen = asyncio.Semaphore(0)

    async def one_by_one(line: Line) -> None:
        await line.begin()
        for number in range(10):
            await line.say(frames.delta(f"{number} "))
            await seen.acquire()
        await line.say(frames.finalize())

    async with (
        behind(kind, tmp_path, one_by_one) as (agent, gateway, front),
        App(front).prompt("hi") as chat,
    ):
        for number in range(10):
            await chat.sees(f'"delta":"{number} "')
            seen.release()
        body = await chat.end()

        headers = chat.response.headers
        assert chat.response.request.headers["accept-encoding"].startswith("gzip")
        assert "content-encoding" not in headers
        assert headers["x-request-id"] == agent.lines[0].headers["x-request-id"]
        assert await agree(gateway, [body]) == {"completed": 1}


@each_front
@pytest.mark.fault("a hang-up behind a proxy", "the turn is aborted")
async def test_a_hang_up_reaches_the_agent(kind: type[Front], tmp_path: Path) -> None:
    async with behind(kind, tmp_path, begin_only) as (agent, gateway, front):
        async with App(front).prompt("hi") as chat:
            await chat.sees("Hello")
        await until(lambda: agent.lines[0].aborts)

        assert await agree(gateway, [chat.body]) == {"client_gone": 1}


@each_front
@pytest.mark.fault(
    "a gateway is killed in mid-stream, behind a proxy", "a broken connection, never an end"
)
async def test_a_killed_gateway_is_no_end(kind: type[Front], tmp_path: Path) -> None:
    async with behind(kind, tmp_path, begin_only) as (_, gateway, front):
        async with App(front).prompt("hi") as chat:
            await chat.sees("Hello")
            gateway.signal(signal.SIGKILL)
            with pytest.raises(httpx.RemoteProtocolError):
                await chat.end()

        assert said(chat.body) == "Hello"
        assert verdict(chat.body) == NONE


@each_front
@pytest.mark.fault(
    "all gateways are down, behind a proxy", "502 or 503 at once; no prompt is sent twice"
)
async def test_where_nobody_listens_the_proxy_says_so(kind: type[Front], tmp_path: Path) -> None:
    async with behind(kind, tmp_path, begin_only) as (agent, gateway, front):
        gateway.signal(signal.SIGKILL)
        await gateway.ended()
        async with new_client() as client:
            url = f"{front.url}/api/sessions/s1/chat"
            response = await client.post(url, json=ask(), headers=bearer())
            hidden = await client.get(f"{front.url}/metrics")

        assert response.status_code in {502, 503}
        assert agent.connections == 0
        assert hidden.status_code == 404


@pytest.mark.skipif(not LONG, reason="the long form alone: it takes ten seconds")
@pytest.mark.fault("a client that sends its request slowly", "cut by the proxy after 10 s")
@pytest.mark.parametrize(
    ("kind", "begun"),
    [
        pytest.param(Nginx, HALF_A_HEAD, id="head: nginx"),
        pytest.param(Nginx, HALF_A_BODY, id="body: nginx"),
        pytest.param(Haproxy, HALF_A_HEAD, id="head: HAProxy"),  # whose slow bodies we bound
    ],
)
async def test_half_a_request_is_not_waited_for(
    kind: type[Front], tmp_path: Path, begun: bytes
) -> None:
    async with (
        behind(kind, tmp_path, begin_only) as (_, gateway, front),
        Reader(front.port) as client,
    ):
        client.send(begun)
        await client.ends(15)

        assert b" 200 " not in client.heard
        assert gateway.logged("refused") == []
