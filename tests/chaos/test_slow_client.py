"""A client stops reading a flood, beside fifty others: memory is bounded, and nobody notices."""

import asyncio
import json
import socket

import pytest

from chaos.asking import answer
from chaos.reader import Reader
from chaos.verdicts import agree
from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, request, said
from gateway.served import Served
from gateway.waiting import until
from support.form import either

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(300)]

MIB = 1_048_576
OTHERS = 50
FRAMES = either(40_000, 400_000)
WARM_ROUNDS = either(2, 40)
"""Two thousand turns fill every cache; a hundred are enough for the growth of one round."""

STALL_S = 6
"""The kernel's own patience is a quarter longer, and runs from when the client's window closed;
ours from when the kernel's buffers were full. They must be full within that quarter."""

DELTA = "x" * 1000
PIECE = frames.raw(frames.text(frames.delta(DELTA)).encode()) * 40


class Agent:
    """In session `slow` it floods for as long as it is heard; elsewhere a turn takes a second.

    But in session `warm`: there it is over at once.
    """

    def __init__(self) -> None:
        self.flooded = 0
        self.floods: list[Line] = []

    async def __call__(self, line: Line) -> None:
        await line.begin()
        if "/slow/" in line.path:
            self.floods.append(line)
            for _ in range(FRAMES // 40):
                if line.is_open:
                    await line.raw(PIECE)
                    self.flooded += 40
        elif "/warm/" not in line.path:
            for number in range(20):
                await line.say(frames.delta(f"{number} "))
                await asyncio.sleep(0.05)  # the agent thinks
        if line.is_open:
            await line.say(frames.finalize())


def _slow(gateway: Served) -> Reader:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return Reader(gateway.port, sock=sock)


async def _one_round(gateway: Served, agent: Agent, *, cut: bool) -> list[bytes]:
    """One client that stops reading, until it is cut or leaves; fifty that read on."""
    flooded_before = agent.flooded
    async with _slow(gateway) as slow:
        slow.send(request(json.dumps(ask()).encode(), path="/api/sessions/slow/chat"))
        await slow.sees(b"text-delta")
        slow.stop_reading()
        reading = [
            asyncio.create_task(answer(gateway, user=f"u{number}")) for number in range(OTHERS)
        ]
        line = agent.floods[-1]
        await _stuck(agent)
        assert not line.closed, "it is paused first"
        assert agent.flooded - flooded_before < FRAMES
        if cut:
            await until(lambda: line.closed)
    await until(lambda: line.closed)
    assert len(line.aborts) == 1
    others = [await each for each in reading]
    assert all(said(each) == "".join(f"{n} " for n in range(20)) for each in others)
    return [slow.body, *others]


async def _stuck(agent: Agent) -> None:
    """Wait until the flood gets nothing off any more."""
    before = -1
    while before != agent.flooded:
        before = agent.flooded
        await asyncio.sleep(0.3)


@pytest.mark.fault(
    "a client stops reading a flood, beside fifty other streams",
    "its agent is paused, then the client is cut off; memory does not grow; the other streams "
    "complete",
)
async def test_a_slow_client_costs_neither_memory_nor_the_others() -> None:
    agent = Agent()
    rounds = either(1, 5)
    async with ScriptedAgent(agent) as server, Served(server.url(), stall_s=STALL_S) as gateway:
        bodies = await _one_round(gateway, agent, cut=False)
        for _ in range(WARM_ROUNDS):
            warming = (answer(gateway, session="warm", user=f"u{n}") for n in range(OTHERS))
            bodies += await asyncio.gather(*warming)
        await agree(gateway, bodies)
        warm = gateway.rss_bytes
        for _ in range(rounds):
            bodies += await _one_round(gateway, agent, cut=True)

        assert (gateway.rss_bytes - warm) / MIB < 4
        outcomes = await agree(gateway, bodies, untold=["client_gone", *["slow_client"] * rounds])
        assert outcomes["completed"] == OTHERS * (rounds + 1 + WARM_ROUNDS)


async def _count(line: Line) -> None:
    """A flood of numbers, forty frames a write; in session `warm` a tenth of it."""
    await line.begin()
    most = FRAMES // 10 if "/warm/" in line.path else FRAMES
    for first in range(0, most, 40):
        told = (frames.text(frames.delta(f"{number} ")) for number in range(first, first + 40))
        await line.raw(b"".join(frames.raw(each.encode()) for each in told))
    await line.say(frames.finalize())


@pytest.mark.fault("an agent floods a client that reads", "every frame arrives; memory is bounded")
async def test_a_flood_is_lossless_and_costs_no_memory() -> None:
    bodies = []
    async with ScriptedAgent(_count) as server, Served(server.url()) as gateway:
        for session in ("warm", "s1"):
            async with Reader(gateway.port) as client:
                warm = gateway.rss_bytes
                path = f"/api/sessions/{session}/chat"
                client.send(request(json.dumps(ask()).encode(), path=path))
                await client.ends(200)
                bodies.append(client.body)
        grown = gateway.rss_bytes - warm

        assert said(bodies[1]) == "".join(f"{number} " for number in range(FRAMES))
        assert grown / MIB < 4
        assert await agree(gateway, bodies) == {"completed": 2}
