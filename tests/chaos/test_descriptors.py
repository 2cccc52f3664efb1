"""The process runs out of file descriptors."""

import asyncio
import json
from contextlib import AsyncExitStack

import pytest

from chaos.reader import Reader
from chaos.verdicts import agree
from gateway import frames
from gateway.agent import Line, ScriptedAgent
from gateway.clients import ask, request, said
from gateway.needed import program
from gateway.served import Served
from gateway.waiting import until

pytestmark = pytest.mark.sockets

BODY = request(json.dumps(ask()).encode())
MOST = 48
"""Descriptors of the gateway: some fifteen are its own, and a stream takes two."""


@pytest.mark.fault(
    "the gateway has no file descriptor left",
    "new connections are closed; open streams continue; new ones are accepted when descriptors "
    "are free again",
)
async def test_without_descriptors_newcomers_are_refused_and_open_streams_go_on() -> None:
    go_on = asyncio.Event()

    async def script(line: Line) -> None:
        await line.begin()
        await line.say(frames.delta("Hello"))
        await go_on.wait()
        await line.say(frames.delta(" again"), frames.finalize())

    async with (
        ScriptedAgent(script) as agent,
        Served(agent.url()).under(program("prlimit"), f"--nofile={MOST}") as gateway,
        AsyncExitStack() as stack,
    ):
        served: list[Reader] = []
        refused: list[Reader] = []
        for _ in range(MOST):
            client = await stack.enter_async_context(Reader(gateway.port))
            client.send(BODY)
            await client.sees_or_ends(b"Hello")
            (refused if client.is_over else served).append(client)
        assert len(served) > 10
        assert len(refused) > 10
        (warned,) = gateway.logged("too few file descriptors for TURNWIRE_MAX_STREAMS")
        assert (warned["limit"], warned["streams_possible"]) == (MOST, 0)
        used_s = gateway.cpu_s
        await asyncio.sleep(1)  # a second in which a busy loop would burn processor time
        assert gateway.cpu_s - used_s < 0.5

        go_on.set()
        for client in served:
            await client.ends()
        assert all(said(client.body) == "Hello again" for client in served)
        await until(lambda: gateway.descriptors < MOST)  # the agent's sockets linger
        assert await gateway.answers("/healthz") == 200
        async with Reader(gateway.port) as late:
            late.send(BODY)
            await late.ends()
        told = [client.body for client in (*served, *refused, late) if client.body]
        outcomes = await agree(gateway, told)
        assert outcomes["completed"] == len(served) + 1
        # The last connection that came in may have left none for its agent.
        assert outcomes.total() - outcomes["completed"] <= 1
