"""Aborts, clients that read slowly, agents that read slowly, and what is held for both."""

import asyncio

import pytest

from gateway.clients import (
    SMALL_BUFFER,
    RawClient,
    chatting,
    errors,
    is_whole,
)
from gateway.http_agent import (
    LONG_TEXT,
    Asked,
    HttpAgent,
    answers,
    gateway_of,
    pool_of,
    post_long,
)
from gateway.waiting import until
from support.http_dialect import (
    BEGUN,
    CHUNKED,
    END,
    HttpDialect,
    chunk,
    event,
    sized,
)
from support.posting_dialect import Begun, Over, Text
from turnwire.dialects import DIALECTS

pytestmark = pytest.mark.sockets

MIB = 1_048_576
REFUSED = "The agent refused the request"


@pytest.fixture(autouse=True)
def dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DIALECTS, HttpDialect.name, HttpDialect())


async def test_the_close_of_the_connection_is_the_abort() -> None:
    async with (
        HttpAgent(answers(CHUNKED + chunk(BEGUN))) as agent,
        gateway_of(agent) as gateway,
    ):
        async with chatting(gateway) as chat:
            await chat.sees("Hello")
        await agent.all_left()
        await gateway.has_ended("client_gone")


async def test_a_client_that_leaves_before_the_head_aborts_too() -> None:
    async def script(asked: Asked) -> None:
        await asked.is_left()

    async with HttpAgent(script) as agent, gateway_of(agent, dial_s=0.1) as gateway:
        async with chatting(gateway) as chat:
            await chat.sees(": keepalive")
        await agent.all_left()


class Flood:
    """An agent that says 50 KB after 50 KB, each when the one before is taken."""

    def __init__(self, count: int) -> None:
        self.text = "x" * 50_000
        self.count, self.sent = count, 0

    async def __call__(self, asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(event(Begun("t1"))))
        for _ in range(self.count):
            await asked.say(chunk(event(Text(self.text))))
            self.sent += 1
        await asked.say(chunk(event(Over())) + END)

    async def is_stuck(self) -> None:
        """Wait until the agent gets nothing off any more."""
        before = -1
        while before != self.sent:
            before = self.sent
            await asyncio.sleep(0.15)


@pytest.mark.fault(
    "an HTTP agent floods a slow client",
    "the agent is read no faster than the client reads; memory stays bounded",
)
async def test_a_flood_against_a_slow_client_is_held_back_in_bounded_memory() -> None:
    """Of 100 MB, the sockets and the gateway hold a small part; the rest waits at the agent."""
    flood = Flood(2_000)
    async with (
        HttpAgent(flood) as agent,
        gateway_of(agent, stall_s=30) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat(connection="close")
        await flood.is_stuck()
        assert 0 < flood.sent < flood.count // 4
        assert gateway.dialler.budget.held_bytes < 2 * MIB

        received = 0
        while data := await client.read(MIB):
            received += len(data)
            assert gateway.dialler.budget.held_bytes < 3 * MIB

        assert flood.sent == flood.count
        assert received > flood.count * len(flood.text)
        await gateway.has_ended("completed")


async def test_a_client_that_goes_on_reading_nothing_is_cut_and_its_agent_left() -> None:
    flood = Flood(400)
    async with (
        HttpAgent(flood) as agent,
        gateway_of(agent, stall_s=1) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as client,
    ):
        await client.chat()
        await until(lambda: agent.connections == 1)
        await agent.all_left()

        assert flood.sent < flood.count
        await gateway.has_ended("slow_client")


async def test_a_long_request_is_sent_whole_and_held_until_then() -> None:
    goes_on = asyncio.Event()

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(BEGUN))
        await goes_on.wait()
        await asked.say(chunk(event(Over())) + END)

    async with HttpAgent(script) as agent, gateway_of(agent) as gateway:
        posting = asyncio.create_task(post_long(gateway))
        await until(lambda: bool(agent.requests))
        await until(lambda: gateway.dialler.budget.held_bytes == 0)
        assert not posting.done()
        goes_on.set()
        answer = await posting

    assert is_whole(answer.text)
    assert LONG_TEXT.encode() in agent.requests[0].body


async def test_a_long_request_that_the_agent_does_not_read_ends_the_stream() -> None:
    has_ended = asyncio.Event()

    async def script(asked: Asked) -> None:
        await asked.say(CHUNKED + chunk(BEGUN))
        await has_ended.wait()

    async with (
        HttpAgent(script, reads_body=False) as agent,
        gateway_of(agent, stall_s=0.5) as gateway,
    ):
        answer = await post_long(gateway)
        has_ended.set()
        await agent.all_left()

    assert errors(answer.text) == ["Stream interrupted"]


async def test_a_refusal_may_come_before_the_request_is_sent() -> None:
    async def script(asked: Asked) -> None:
        await asked.say(sized(b"too long", b"HTTP/1.1 413 No\r\n"))
        await asked.is_left()

    async with HttpAgent(script, reads_body=False) as agent, gateway_of(agent) as gateway:
        answer = await post_long(gateway)
        assert len(pool_of(gateway)) == 0
        await agent.all_left()

    assert errors(answer.text) == [REFUSED]
