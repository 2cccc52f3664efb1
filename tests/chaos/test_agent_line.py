"""A line between the gateway and the agent that goes wrong at any byte."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import pytest

from chaos.asking import answer
from chaos.verdicts import agree, verdict
from gateway.agent import ScriptedAgent
from gateway.agent_process import TEXT, tell
from gateway.clients import said
from gateway.served import Served
from support.form import either
from turnwire_lab.faultproxy import FaultProxy, Harm, Way

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

WIRE_BYTES: Final = 3400
"""More than the agent writes in a turn of `tell`, the handshake's answer among it."""

SLOW: Final = (Way(latency_s=0.2), Way(piece_bytes=1), Way(piece_bytes=7, pause_s=0.001))


@asynccontextmanager
async def line(**given: object) -> AsyncIterator[tuple[FaultProxy, ScriptedAgent, Served]]:
    """A gateway in front of an agent, and the line between them."""
    async with (
        ScriptedAgent(tell) as agent,
        FaultProxy(agent.port) as proxy,
        Served(agent.url().replace(str(agent.port), str(proxy.port)), **given) as gateway,
    ):
        yield proxy, agent, gateway


@pytest.mark.fault("the line to the agent is slow, or drips byte by byte", "nothing is lost")
async def test_a_slow_line_loses_nothing() -> None:
    async with line() as (proxy, _, gateway):
        bodies = []
        for way in SLOW:
            proxy.there = proxy.back = way
            bodies.append(await answer(gateway))

        assert [said(body) for body in bodies] == [TEXT] * len(SLOW)
        assert await agree(gateway, bodies) == {"completed": len(SLOW)}


@pytest.mark.fault(
    "the line to the agent is cut, reset or half-closed at any byte",
    "“Connection failed” in the handshake, “Stream interrupted” after it",
)
async def test_a_cut_at_any_byte_is_reported_and_what_came_before_it_is_shown() -> None:
    every: list[bytes] = []
    async with line() as (proxy, agent, gateway):
        for harm in (Harm.CLOSE, Harm.RESET, Harm.HALF_CLOSE):
            bodies = []
            for after in range(1, WIRE_BYTES, either(97, 7)):
                proxy.back = Way(cut_after=after, harm=harm)
                bodies.append(await answer(gateway))

            assert all(TEXT.startswith(said(body)) for body in bodies)
            assert _in_order(bodies) == ["unreachable", "interrupted", "completed"], harm
            every += bodies

        assert agent.connections == len(every)  # one dial each, and no retry
        await agree(gateway, every)


@pytest.mark.fault("the agent's host drops all packets", "the idle limit or the dial limit applies")
async def test_a_line_that_swallows_ends_with_a_limit() -> None:
    async with line(dial_s=0.5, idle_s=0.7) as (proxy, _, gateway):
        bodies = []
        for after in (60, 1500):  # in the handshake's answer, and in mid-turn
            proxy.there = proxy.back = Way(cut_after=after, harm=Harm.SWALLOW)
            bodies.append(await answer(gateway))

        assert _in_order(bodies) == ["unreachable", "silent"]
        assert TEXT.startswith(said(bodies[1]))
        assert await agree(gateway, bodies) == {"unreachable": 1, "silent": 1}


def _in_order(bodies: Sequence[bytes]) -> list[str]:
    """The verdicts, each where it first came."""
    return list(dict.fromkeys(map(verdict, bodies)))
