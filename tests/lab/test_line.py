"""The line between gateway and agent, where one of them leaves early, and what it harms."""

import asyncio
from contextlib import suppress

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request

from turnwire_lab.process import HOST
from turnwire_lab.wiretap.harm import AFTER, Harm
from turnwire_lab.wiretap.line import Line
from turnwire_lab.wiretap.wire import Wire

PATIENCE_S = 5
PROMPTS = {
    "v2": '{"type":"prompt"}',
    "acp": '{"jsonrpc":"2.0","id":10,"method":"session/prompt","params":{}}',
}
DELTAS = {
    "v2": '{"type":"message.part.text-delta","delta":"x"}',
    "acp": '{"jsonrpc":"2.0","method":"session/update","params":{"update":'
    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}',
}
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


@pytest.mark.sockets
@pytest.mark.parametrize("wire", ["v2", "acp"])
async def test_an_agent_that_dies_does_so_in_the_middle_of_its_answer(wire: str) -> None:
    async def answer(line: ServerConnection) -> None:
        async for _prompt in line:
            for _ in range(2 * AFTER):
                await line.send(DELTAS[wire])

    harm = Harm(lambda: None)
    harm.plan("s1", "agent-dies")
    async with serve(answer, HOST, 0) as agent, asyncio.timeout(PATIENCE_S):
        port = next(iter(agent.sockets)).getsockname()[1]
        async with Line(f"ws://{HOST}:{port}/sessions/{{session_id}}/ws", Wire(), harm) as line:
            url = line.url.format(session_id="s1")
            count = 0
            async with connect(url, proxy=None) as gateway:
                await gateway.send(PROMPTS[wire])
                with suppress(ConnectionClosed):  # that it was cut is no end
                    while await gateway.recv():
                        count += 1
                assert gateway.close_code == CloseCode.ABNORMAL_CLOSURE
    assert count < AFTER
