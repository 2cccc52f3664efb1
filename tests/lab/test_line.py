"""The line between gateway and agent, where one of them leaves early."""

import asyncio

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.frames import CloseCode
from websockets.http11 import Request

from turnwire_lab.process import HOST
from turnwire_lab.wiretap.harm import Harm
from turnwire_lab.wiretap.line import Line
from turnwire_lab.wiretap.wire import Wire

PATIENCE_S = 5
HANDSHAKE = (
    b"GET /sessions/s/ws HTTP/1.1\r\nHost: line\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


@pytest.mark.sockets
async def test_the_agent_is_left_when_the_gateway_leaves_before_it_is_let_in() -> None:
    asked, let_in = asyncio.Event(), asyncio.Event()
    left: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

    async def slowly(_near: ServerConnection, _request: Request) -> None:
        asked.set()
        await let_in.wait()

    async def talk(line: ServerConnection) -> None:
        await line.wait_closed()
        left.set_result(line.close_code)

    async with (
        serve(talk, HOST, 0, process_request=slowly) as agent,
        asyncio.timeout(PATIENCE_S),
    ):
        port = next(iter(agent.sockets)).getsockname()[1]
        async with Line(f"ws://{HOST}:{port}", Wire(), Harm(lambda: None)) as line:
            _, gateway = await asyncio.open_connection(HOST, line.port)
            gateway.write(HANDSHAKE)
            await asked.wait()
            gateway.transport.abort()
            let_in.set()
            assert await left == CloseCode.NORMAL_CLOSURE
