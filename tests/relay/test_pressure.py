"""Peers that read slowly, or not at all."""

import asyncio

import pytest

from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import RawClient
from gateway.running import Gateway

pytestmark = pytest.mark.sockets

PIECES = 90
PIECE = "x" * 60_000


async def tell_much(line: Line) -> None:
    await line.begin()
    for _ in range(PIECES):
        await line.say(frames.delta(PIECE))
    await line.say(frames.finalize())


@pytest.mark.fault("the client reads slowly, and its system reports it in time", "nothing is lost")
async def test_a_client_that_reads_slowly_but_steadily_gets_all_of_it() -> None:
    """What is measured is what it acknowledged, not when the server's buffer has room again."""
    async with (
        ScriptedAgent(tell_much) as agent,
        Gateway(agent.url(), stall_s=0.4) as gateway,
        RawClient(gateway, receive_buffer=65_536) as client,
    ):
        await client.chat()
        size, last = 0, b""
        while not last.endswith(b"0\r\n\r\n"):
            got = await client.read(50_000)
            assert got, "cut"
            size += len(got)
            last = (last + got)[-200:]
            await asyncio.sleep(0.02)  # the slowness is the fact here

        assert size > PIECES * len(PIECE)
        assert b"[DONE]" in last


@pytest.mark.fault(
    "the agent sends pings and does not read", "the gateway stops reading too; memory is bounded"
)
async def test_an_agent_that_pings_and_does_not_read_is_not_answered_without_end() -> None:
    """Its pongs would pile up here, so it is not read either, and its own writes come to a stop."""
    pings = frames.raw(b"p" * 100, opcode=9) * 40

    async def ping(line: Line) -> None:
        await line.begin()
        line.connection.transport.pause_reading()
        for _ in range(200):
            await line.raw(pings + frames.raw(frames.text(frames.delta("x" * 60_000)).encode()))

    async with (
        ScriptedAgent(ping) as agent,
        Gateway(agent.url(), idle_s=60) as gateway,
        RawClient(gateway) as client,
    ):
        await client.chat()
        body = b""
        while b"[DONE]" not in body and (data := await client.read()):
            body = (body + data)[-200:]

    assert b"Stream interrupted" in body
