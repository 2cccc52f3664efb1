"""What a stream was made of goes with it, without the garbage collector.

That looks at what has lived for long only after hundred thousands of streams
(`web.server.server` sets it so), and thousands of long streams would pile up till then.
"""

import gc
from collections import Counter
from collections.abc import Iterator

import pytest
from websockets.protocol import Protocol
from websockets.server import ServerProtocol

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import chatting, post
from gateway.http_agent import HttpAgent, answers, gateway_of, pool_of
from gateway.rawagent import RawAgent
from gateway.reading import App
from gateway.running import Gateway
from gateway.waiting import until
from support.http_dialect import BEGUN, CHUNKED, WHOLE, HttpDialect, chunk, chunked, sized
from turnwire.core.turn.turn import Turn
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.http.exchange import HttpExchange
from turnwire.relay.agent.http.incoming import Incoming
from turnwire.relay.agent.http.response import ResponseReader
from turnwire.relay.agent.link import AgentLink
from turnwire.relay.agent.websocket_connection import WebSocketConnection
from turnwire.relay.agent_call import OperationCall
from turnwire.relay.client_writer import ClientWriter
from turnwire.relay.turn_stream import Stream
from turnwire.web.server.http_protocol import HttpConnection
from turnwire.web.server.response_body import ChunkedBody

pytestmark = pytest.mark.sockets

OURS = (
    *(AgentLink, ChunkedBody, ClientWriter, OperationCall, HttpConnection, Protocol, Stream),
    *(HttpExchange, Incoming, ResponseReader, Turn, WebSocketConnection),
)


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def alive() -> Counter[str]:
    found = [each for each in gc.get_objects() if isinstance(each, OURS)]
    return Counter(type(each).__name__ for each in found if not isinstance(each, ServerProtocol))


async def _answer(line: Line) -> None:
    await line.begin()
    await line.say(frames.delta("Hello"), frames.finalize())


async def _hang(line: Line) -> None:
    await line.begin()
    await line.say(frames.delta("Hello"))


async def test_nothing_is_left_of_a_turn() -> None:
    async with ScriptedAgent(_answer) as agent, Gateway(agent.url()) as gateway:
        before = alive()
        for _ in range(5):
            await post(gateway)

        await until(lambda: alive() == before)


async def test_nothing_is_left_of_a_turn_whose_client_left() -> None:
    async with ScriptedAgent(_hang) as agent, Gateway(agent.url()) as gateway:
        before = alive()
        for _ in range(5):
            async with chatting(gateway) as chat:
                await chat.sees("Hello")

        await until(lambda: alive() == before)


async def test_nothing_is_left_of_an_agent_that_is_not_there() -> None:
    async with Gateway() as gateway:
        before = alive()
        for _ in range(5):
            await post(gateway)

        await until(lambda: alive() == before)


async def test_nothing_is_left_of_an_errand() -> None:
    async def script(line: Line) -> None:
        await line.say({"type": "init", "session": {"id": "s1", "messages": []}, "data": {}})

    async with ScriptedAgent(script) as agent, Gateway(agent.url()) as gateway:
        before = alive()
        for _ in range(5):
            await App(gateway).messages()

        await until(lambda: alive() == before)


async def test_nothing_is_left_of_a_turn_that_is_cut() -> None:
    async def cut(line: Line) -> None:
        await _hang(line)
        line.cut()

    async with ScriptedAgent(cut) as agent, Gateway(agent.url()) as gateway:
        before = alive()
        for _ in range(5):
            await post(gateway)

        await until(lambda: alive() == before)


@pytest.mark.parametrize(
    "reply",
    [b"HTTP/1.1 101 Switching Pro", b"SSH-2.0\r\n", b"HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n"],
)
async def test_nothing_is_left_of_a_handshake_that_fails(reply: bytes) -> None:
    async with RawAgent(reply) as agent, Gateway(agent.url()) as gateway:
        before = alive()
        for _ in range(5):
            await post(gateway)

        await until(lambda: alive() == before)


@pytest.mark.parametrize(
    "response",
    [
        chunked(WHOLE),
        CHUNKED + chunk(WHOLE),
        sized(b"", b"HTTP/1.1 500 No\r\n"),
        b"SSH-2.0\r\n",
        CHUNKED + chunk(BEGUN) + b"no chunk",
    ],
    ids=["whole", "not to its end", "refused", "garbage", "broken"],
)
async def test_nothing_is_left_of_a_turn_by_http(
    response: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())
    async with HttpAgent(answers(response)) as agent, gateway_of(agent) as gateway:
        before = alive()
        for _ in range(5):
            await post(gateway)

        pool_of(gateway).close()
        await until(lambda: alive() == before)


async def test_nothing_is_left_of_a_turn_by_http_whose_client_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())
    hangs = answers(CHUNKED + chunk(BEGUN))
    async with HttpAgent(hangs) as agent, gateway_of(agent) as gateway:
        before = alive()
        for _ in range(5):
            async with chatting(gateway) as chat:
                await chat.sees("Hello")

        await until(lambda: alive() == before)
