"""A client that does not read holds back what its agent says: an abort must not act on old news."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from websockets.exceptions import ConnectionClosed

from gateway.agent import Line, ScriptedAgent
from gateway.clients import SMALL_BUFFER, RawClient, ask, chatting, request
from gateway.product import product
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import until
from support import session_agent_frames as f
from turnwire_lab.agents.session_agent.habits import REVISIONS, Habits, Revision
from turnwire_lab.agents.session_agent.server import SessionAgent

pytestmark = pytest.mark.sockets

FLOOD = json.dumps(ask("flood 10000")).encode()
"""More than the buffers on the way to a client hold that is given little."""
BACKLOG = 65_536


@asynccontextmanager
async def narrow(habits: Habits, **settings: object) -> AsyncIterator[tuple[SessionAgent, Gateway]]:
    """A product whose clients find little room on their way."""
    async with product(habits, backlog_bytes=BACKLOG, **settings) as (agent, gateway):
        gateway.narrow()
        yield agent, gateway


async def _meet(agent: SessionAgent, gateway: Gateway, slow: RawClient, *, leaves: bool) -> bytes:
    """Ann's turn ends unread, Bob's begins; what he was told."""
    await slow.send(request(FLOOD, headers=bearer("ann")))
    await until(lambda: agent.tally.finished)
    async with chatting(gateway, user="bob", text="hold") as other:
        await other.sees("Holding")
        assert len(gateway.streams) == 2
        if leaves:
            slow.reset()
        await until(lambda: len(gateway.streams) == 1)
        agent.session("s1").release()
        return await other.end()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_client_that_leaves_after_not_reading_stops_nobody_elses_turn(
    revision: Revision,
) -> None:
    async with (
        narrow(Habits(revision=revision), stall_s=60) as (agent, gateway),
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as slow,
    ):
        body = await _meet(agent, gateway, slow, leaves=True)

    assert not agent.tally.aborts
    assert b"And " in body


@pytest.mark.long
async def test_nor_does_one_that_is_cut_off() -> None:
    async with (
        narrow(Habits(revision="V"), stall_s=6) as (agent, gateway),
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as slow,
    ):
        body = await _meet(agent, gateway, slow, leaves=False)
        await gateway.has_ended("slow_client")

    assert not agent.tally.aborts
    assert b"And " in body


async def test_a_client_that_leaves_after_not_reading_stops_its_own_turn() -> None:
    async with (
        narrow(Habits(revision="V", pace_s=0.0), stall_s=60) as (agent, gateway),
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as slow,
    ):
        endless = json.dumps(ask("flood 100000")).encode()
        await slow.send(request(endless, headers=bearer("ann")))
        await until(lambda: gateway.streams)
        # The agent says more than the gateway reads.
        await until(lambda: _unread(agent) > 100_000)
        slow.reset()
        await until(lambda: agent.tally.aborts)
        await gateway.has_ended("client_gone")

    assert [hit.user_id for hit in agent.tally.stopped] == ["ann"]


@pytest.mark.parametrize("revision", REVISIONS)
async def test_one_that_is_cut_off_stops_its_own_turn(revision: Revision) -> None:
    async with (
        narrow(Habits(revision=revision, pace_s=0.001), stall_s=1) as (agent, gateway),
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as slow,
    ):
        endless = json.dumps(ask("flood 100000")).encode()
        await slow.send(request(endless, headers=bearer("ann")))
        await until(lambda: gateway.streams)
        await until(lambda: agent.tally.aborts)
        # A system with so little room may drop what comes without a word, as one that vanished.
        await until(lambda: gateway.ended("slow_client") + gateway.ended("client_gone") == 1)
        assert b"[DONE]" not in await slow.read_all()

    assert [hit.user_id for hit in agent.tally.stopped] == ["ann"]


async def _flood(line: Line) -> None:
    """A turn of V that says more than anybody reads, of an agent that is late with its pong."""
    await line.connection.send(f.init("V").decode())
    text = (await line.prompt())["content"]
    for frame in (f.user(text), f.begin()):
        await line.connection.send(frame.decode())
    piece = f.chunk("x" * 50_000).decode()
    while line.is_open and not line.of_type("ping"):
        with suppress(ConnectionClosed, TimeoutError):
            await asyncio.wait_for(line.connection.send(piece), 0.2)


async def test_it_is_cut_at_once_and_its_turn_is_aborted_later() -> None:
    async with (
        ScriptedAgent(_flood) as agent,
        Gateway(agent.url(), dialect="session-agent", stall_s=1, backlog_bytes=BACKLOG) as gateway,
        RawClient(gateway, receive_buffer=SMALL_BUFFER) as slow,
    ):
        await slow.send(request(json.dumps(ask("two")).encode()))
        line = await agent.line()
        await until(lambda: line.of_type("ping"))
        assert b"[DONE]" not in await slow.read_all()
        await until(lambda: not gateway.server.server_state.connections)
        assert (len(gateway.streams), line.aborts) == (1, [])

        await line.connection.send(f.frame("pong").decode())

        await until(lambda: line.aborts)
        await gateway.has_ended("slow_client")
        assert not gateway.streams


def _unread(agent: SessionAgent) -> int:
    sockets = agent.session("s1")._state.sockets.open
    return sum(socket.transport.get_write_buffer_size() for socket in sockets)
