"""A peer whose host vanishes: no FIN, no reset, only silence (network namespaces)."""

import asyncio
import json
from collections.abc import Iterator
from typing import Final

import pytest

from chaos.far import FarHost
from chaos.reader import Reader
from chaos.verdicts import agree
from gateway import frames
from gateway.agent import Line, ScriptedAgent, begin_only
from gateway.agent_process import AgentProcess
from gateway.clients import ask, errors, is_whole, request
from gateway.reading import App
from gateway.served import Served
from gateway.waiting import until
from support.form import LONG

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

NOTICED_S: Final = 25.0
"""What is promised of a peer that vanished, whatever the settings."""

STALL_S: Final = 20 if LONG else 1.5
"""As it comes, or so short that the second probe decides."""

BODY = request(json.dumps(ask()).encode())


@pytest.fixture
def far() -> Iterator[FarHost]:
    with FarHost() as host:
        yield host


async def _talk(line: Line) -> None:
    await begin_only(line)
    while line.is_open:
        await line.say(frames.delta("and on "))
        await asyncio.sleep(0.05)  # an agent that thinks


@pytest.mark.fault(
    "the client's host disappears and closes nothing",
    "the stream ends within 25 s, and the turn is aborted",
)
async def test_a_client_that_vanishes_while_it_is_written_to_is_released(far: FarHost) -> None:
    async with (
        ScriptedAgent(_talk) as agent,
        Served(agent.url(), host=far.near, stall_s=1.5) as gateway,
        Reader(gateway.port, host=far.near, sock=far.new_socket()) as client,
    ):
        client.send(BODY)
        await client.sees(b"and on")
        far.vanish()
        line = agent.lines[0]
        await until(lambda: line.closed, NOTICED_S)

        assert len(line.aborts) == 1
        assert await agree(gateway, [client.body], untold="client_gone") == {"client_gone": 1}


@pytest.mark.fault(
    "the client's host disappears and closes nothing, while the agent is silent",
    "the stream ends within 25 s",
)
@pytest.mark.skipif(not LONG, reason="the long form alone: it takes half a minute")
@pytest.mark.parametrize("after_s", [0, 9])
async def test_a_client_that_vanishes_from_a_silent_stream_is_released(
    far: FarHost, after_s: float
) -> None:
    """With the settings as they come: no byte to write but a keepalive now and then.

    One that is written after the client vanished ends the kernel's probing.
    """
    async with (
        ScriptedAgent(begin_only) as agent,
        Served(agent.url(), host=far.near) as gateway,
        Reader(gateway.port, host=far.near, sock=far.new_socket()) as client,
    ):
        client.send(BODY)
        await client.sees(b"Hello")
        await asyncio.sleep(after_s)
        far.vanish()
        line = agent.lines[0]
        await until(lambda: line.closed, NOTICED_S)

        assert await agree(gateway, [client.body], untold="client_gone") == {"client_gone": 1}


@pytest.mark.fault(
    "the agent's host disappears and closes nothing", "“Stream interrupted” within 25 s"
)
async def test_an_agent_that_vanishes_interrupts_the_stream(far: FarHost) -> None:
    """The gateway waits and writes nothing: only the probes of its socket can tell."""
    async with (
        AgentProcess(host=far.address, prefix=far.prefix) as agent,
        Served(agent.url, agent_auth="none", stall_s=STALL_S) as gateway,
        App(gateway).prompt("hang") as chat,
    ):
        await chat.sees("until")
        far.vanish()
        await until(lambda: chat.ended, NOTICED_S + 1)  # whose last probe goes out at 25 s

        assert errors(chat.body) == ["Stream interrupted"]
        assert is_whole(chat.body)
        assert await agree(gateway, [chat.body]) == {"interrupted": 1}
