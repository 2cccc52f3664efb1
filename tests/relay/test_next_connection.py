"""A turn over several connections, over sockets: each is closed before the next one is dialled."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Self

import msgspec
import pytest
from httpx import Response
from msgspec import Raw

from gateway.clients import SMALL_BUFFER, RawClient, chatting, errors, is_whole, post, said
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import closed, until
from support.framed_transport import LENGTH_BYTES, FramedTransport, RequestHead, framed
from support.serial_protocol import SerialAgain, SerialDialect, SerialLater
from turnwire.core.agent import Decoded
from turnwire.core.requests import QuestionReply
from turnwire.core.turn.redials import FAILED_MAX
from turnwire.dialects import DIALECTS
from turnwire.relay.agent.failures import DialFailure
from turnwire.relay.agent.transports import TRANSPORTS
from turnwire.relay.turn_stream import Stream

pytestmark = pytest.mark.sockets

MIB = 1_048_576
SILENT = [b"(nothing, not even a status)"]
REPLY = QuestionReply("q1", Raw(b'"yes"'))


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> SerialDialect:
    made = SerialDialect()
    monkeypatch.setitem(DIALECTS, SerialDialect.name, made)
    monkeypatch.setitem(TRANSPORTS, FramedTransport.name, FramedTransport)
    return made


class Agent:
    """Answers each request with the next of these runs; a run of None refuses its request."""

    def __init__(self, *runs: Sequence[bytes] | None, stays: bool = False) -> None:
        self._runs = iter(runs)
        self._stays = stays
        self.bodies: list[bytes] = []
        self.heads: list[RequestHead] = []
        self.left = 0
        self.sent = 0
        """Frames of a long run that the gateway took, or its kernel."""

    @property
    def url(self) -> str:
        return f"framed://127.0.0.1:{self.port}/{{session_id}}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        self.leave()
        await self._server.wait_closed()
        await closed(self.port)

    def leave(self) -> None:
        """Take no more connections."""
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def piece() -> bytes:
            size = int.from_bytes(await reader.readexactly(LENGTH_BYTES), "big")
            return await reader.readexactly(size)

        self.heads.append(msgspec.json.decode(await piece(), type=RequestHead))
        self.bodies.append(await piece())
        run = next(self._runs)
        if run is SILENT:
            await reader.read()
            self.left += 1
            writer.close()
            return
        writer.write(framed(b"404") if run is None else framed(b"200"))
        if sum(map(len, run or ())) <= MIB:
            writer.write(b"".join(map(framed, run or ())))
        else:
            for frame in run or ():
                writer.write(framed(frame))
                await writer.drain()
                self.sent += 1
        if self._stays:
            await reader.read()
            self.left += 1
        writer.close()


async def test_the_runs_of_a_turn_are_one_response() -> None:
    async with (
        Agent([b"Hello", b"next"], [b" my", b"next"], [b" world", b"end"]) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        response = await post(gateway, headers=(mine := bearer()))

    assert is_whole(response.text)
    assert said(response.text) == "Hello my world"
    assert agent.bodies == [b"prompt", b"next", b"next"]
    for head in agent.heads:
        assert head.headers["authorization"] == mine["authorization"]
        assert head.headers["x-request-id"] == response.headers["x-request-id"]


async def test_the_open_connection_is_closed_before_the_next_one() -> None:
    async with (
        Agent([b"Hello", b"again"], [b" world", b"end"], stays=True) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        response = await post(gateway)
        await until(lambda: agent.left == 2)

    assert said(response.text) == "Hello world"
    assert is_whole(response.text)


async def asked(gateway: Gateway, dialect: SerialDialect) -> tuple[asyncio.Task[Response], Stream]:
    """A request whose turn waits for an answer without a connection, and its stream."""
    asking = asyncio.create_task(post(gateway))
    await until(lambda: any(protocol.is_waiting for protocol in dialect.made))
    (stream,) = gateway.streams._open
    assert isinstance(stream, Stream)
    return asking, stream


async def test_an_answer_beside_the_stream_makes_the_next_run(dialect: SerialDialect) -> None:
    async with (
        Agent([b"Hello", b"ask"], [b" world", b"end"]) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        asking, stream = await asked(gateway, dialect)

        stream.reply(REPLY, "u1")
        response = await asking

    assert said(response.text) == "Hello world"
    assert agent.bodies == [b"prompt", b'"yes"']
    assert dialect.made[0].replies == [(REPLY, "u1")]


@pytest.mark.parametrize("is_listening", [True, False])
async def test_a_next_connection_that_fails_is_an_error_in_the_stream(
    dialect: SerialDialect, *, is_listening: bool
) -> None:
    """Also if its status would be one of the gateway's own before the response began."""
    async with (
        Agent([b"Hello", b"ask"], None) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        asking, stream = await asked(gateway, dialect)
        if not is_listening:
            await agent.stop()

        stream.reply(REPLY, "u1")
        response = await asking

        await gateway.has_ended("unreachable")

    assert response.status_code == 200
    assert said(response.text) == "Hello"
    assert errors(response.text) == ["Connection failed"]


@pytest.mark.parametrize("wait_s", [0.0, 0.05])
async def test_a_protocol_that_is_asked_dials_again(
    monkeypatch: pytest.MonkeyPatch, wait_s: float
) -> None:
    again = SerialDialect(lambda: SerialAgain(wait_s))
    monkeypatch.setitem(DIALECTS, SerialDialect.name, again)
    async with (
        Agent([b"Hello", b"next"], None, None, [b" world", b"end"]) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        response = await post(gateway)

        await gateway.has_ended("completed")

    assert said(response.text) == "Hello world"
    assert is_whole(response.text)
    assert agent.bodies == [b"prompt", b"next", *[b"later" if wait_s else b"again"] * 2]


async def test_an_agent_that_is_gone_is_not_dialled_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = SerialDialect(SerialAgain)
    monkeypatch.setitem(DIALECTS, SerialDialect.name, again)
    async with (
        Agent([b"Hello", b"ask"]) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        asking, stream = await asked(gateway, again)
        await agent.stop()

        stream.reply(REPLY, "u1")
        response = await asking

        await gateway.has_ended("unreachable")

    (protocol,) = again.made
    assert isinstance(protocol, SerialAgain)
    assert protocol.failed == FAILED_MAX
    assert errors(response.text) == ["Connection failed"]


async def test_a_dial_that_fails_before_the_response_has_begun_ends_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with Agent([]) as agent:

        class Leaving(SerialLater):
            def connection_opened(self, now: float) -> Decoded:
                agent.leave()
                return super().connection_opened(now)

        leaving = SerialDialect(Leaving)
        monkeypatch.setitem(DIALECTS, SerialDialect.name, leaving)
        async with Gateway(agent.url, dialect="serial") as gateway:
            response = await post(gateway)

            await gateway.has_ended("unreachable")

    (protocol,) = leaving.made
    assert isinstance(protocol, Leaving)
    assert protocol.failed == 0
    assert errors(response.text) == ["Connection failed"]


async def test_a_dial_that_fails_twice_at_once_is_asked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = SerialDialect(partial(SerialAgain, 0.1))
    monkeypatch.setitem(DIALECTS, SerialDialect.name, again)
    async with (
        Agent([b"Hello", b"ask"], SILENT, [b" world", b"end"]) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
    ):
        asking, stream = await asked(gateway, again)
        stream.reply(REPLY, "u1")
        await until(lambda: len(agent.bodies) == 2)

        for _ in range(2):
            stream.agent_refused(DialFailure.TIMEOUT, None, None)
        response = await asking

    (protocol,) = again.made
    assert isinstance(protocol, SerialAgain)
    assert protocol.failed == 1
    assert said(response.text) == "Hello world"


async def test_a_dial_that_takes_too_long_is_given_up_for_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = SerialDialect(SerialAgain)
    monkeypatch.setitem(DIALECTS, SerialDialect.name, again)
    async with (
        Agent([b"Hello", b"next"], SILENT, [b" world", b"end"]) as agent,
        Gateway(agent.url, dialect="serial", dial_s=0.2) as gateway,
    ):
        response = await post(gateway)

    assert said(response.text) == "Hello world"
    assert agent.left == 1


async def test_a_next_prompt_without_room_ends_the_stream(dialect: SerialDialect) -> None:
    async with (
        Agent([b"Hello", b"ask"]) as agent,
        Gateway(agent.url, dialect="serial", held_bytes=100_000) as gateway,
    ):
        asking, stream = await asked(gateway, dialect)

        stream.reply(QuestionReply("q1", Raw(b'"%b"' % (b"x" * 200_000))), "u1")
        response = await asking

        assert gateway.dialler.budget.held_bytes == 0

    assert errors(response.text) == ["Stream interrupted"]
    assert len(agent.bodies) == 1


async def test_a_client_that_leaves_while_the_turn_waits_ends_it(dialect: SerialDialect) -> None:
    async with (
        Agent([b"Hello", b"ask"]) as agent,
        Gateway(agent.url, dialect="serial") as gateway,
        chatting(gateway) as chat,
    ):
        await chat.sees("Hello")
        await until(lambda: dialect.made[0].is_waiting)
        await chat.hang_up()

        await gateway.has_ended("client_gone")


async def test_the_next_connection_is_not_read_while_the_client_does_not_read() -> None:
    """Its own writes block the client just before it is dialled."""
    text, count = b"x" * 60_000, 400
    async with (
        Agent([text, text, text, b"again"], [*[text] * count, b"end"]) as agent,
        Gateway(agent.url, dialect="serial", stall_s=30) as gateway,
    ):
        gateway.narrow()
        async with RawClient(gateway, receive_buffer=SMALL_BUFFER) as client:
            await client.chat(connection="close")
            await until(lambda: agent.sent)
            before = -1
            while before != agent.sent:
                before = agent.sent
                await asyncio.sleep(0.15)
            assert agent.sent < count
            assert gateway.dialler.budget.held_bytes < MIB

            body = await client.read_all()

    assert body.count(b"x" * len(text)) == count + 3
    assert b"data: [DONE]" in body
