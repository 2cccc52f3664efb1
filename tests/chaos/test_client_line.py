"""A line between the client and the gateway that goes wrong, and a gateway that is killed."""

import asyncio
import json
import signal
from typing import Final

import httpx
import pytest

from chaos.reader import Reader
from chaos.verdicts import NONE, agree, verdict
from gateway.agent import ScriptedAgent, begin_only
from gateway.agent_process import TEXT, tell, tell_on
from gateway.clients import ask, request, said
from gateway.reading import App
from gateway.served import Served
from gateway.waiting import PATIENCE_S, until
from support.form import either
from turnwire_lab.faultproxy import FaultProxy, Harm, Way

pytestmark = [pytest.mark.sockets, pytest.mark.timeout(180)]

BODY: Final = request(json.dumps(ask()).encode())
HEAD_AND_SOME_BYTES: Final = 1500
"""Less than a turn of `tell_on` brings to its client."""


@pytest.mark.fault("the client's line is slow, or drips byte by byte", "nothing is lost")
async def test_a_slow_line_loses_nothing() -> None:
    ways = (Way(latency_s=0.2), Way(piece_bytes=1), Way(piece_bytes=3))
    async with (
        ScriptedAgent(tell) as agent,
        Served(agent.url()) as gateway,
        FaultProxy(gateway.port) as proxy,
    ):
        bodies = []
        for way in ways:
            proxy.there = proxy.back = way
            async with Reader(proxy.port) as client:
                client.send(BODY)
                await client.ends()
                assert client.status == 200
                bodies.append(client.body)

        assert [said(body) for body in bodies] == [TEXT] * len(ways)
        assert await agree(gateway, bodies) == {"completed": len(ways)}


@pytest.mark.fault(
    "the client's line is cut or reset at any byte of the answer",
    "the client sees a broken stream, never a whole one; the turn is aborted",
)
async def test_a_cut_of_the_answer_is_a_hang_up() -> None:
    bodies = []
    async with (
        ScriptedAgent(tell_on) as agent,
        Served(agent.url()) as gateway,
        FaultProxy(gateway.port) as proxy,
    ):
        for harm in (Harm.CLOSE, Harm.RESET):
            for after in range(1, HEAD_AND_SOME_BYTES, either(97, 7)):
                proxy.back = Way(cut_after=after, harm=harm)
                async with Reader(proxy.port) as client:
                    client.send(BODY)
                    await client.ends()
                    bodies.append(client.body)
        await until(lambda: all(line.closed for line in agent.lines))

        assert {verdict(body) for body in bodies} == {NONE}
        assert all(len(line.aborts) == 1 for line in agent.lines if line.of_type("prompt"))
        await agree(gateway, bodies, untold="client_gone")


@pytest.mark.fault(
    "the client's line is cut in mid-request", "the agent gets no prompt, and no stream is counted"
)
async def test_a_request_that_breaks_off_is_no_turn() -> None:
    async with (
        ScriptedAgent(tell) as agent,
        Served(agent.url()) as gateway,
        FaultProxy(gateway.port) as proxy,
    ):
        for harm in (Harm.CLOSE, Harm.RESET, Harm.HALF_CLOSE):
            for after in range(1, len(BODY), either(61, 7)):
                proxy.there = Way(cut_after=after, harm=harm)
                async with Reader(proxy.port) as client:
                    client.send(BODY)
                    await client.ends()
                    assert b"event-stream" not in client.heard

        assert agent.connections == 0
        assert await agree(gateway, []) == {}


@pytest.mark.fault(
    "the client closes its sending side alone, in mid-stream",
    "the gateway treats it as a hang-up, as servers do",
)
async def test_half_a_close_is_a_hang_up() -> None:
    way = Way(cut_after=len(BODY), harm=Harm.HALF_CLOSE)
    async with (
        ScriptedAgent(begin_only) as agent,
        Served(agent.url()) as gateway,
        FaultProxy(gateway.port, there=way) as proxy,
        Reader(proxy.port) as client,
    ):
        client.send(BODY)
        await client.ends()

        assert await agree(gateway, [client.body], untold="client_gone") == {"client_gone": 1}
        await until(lambda: all(line.closed for line in agent.lines))


@pytest.mark.fault(
    "the gateway is killed in mid-stream",
    "clients see a broken connection, never an end; the agent sees its sockets close",
)
async def test_a_killed_gateway_breaks_its_streams_off_and_ends_none() -> None:
    async with ScriptedAgent(begin_only) as agent, Served(agent.url()) as gateway:
        async with App(gateway).prompt("one") as one, App(gateway).prompt("two") as two:
            await one.sees("Hello")
            await two.sees("Hello")
            gateway.signal(signal.SIGKILL)
            for chat in (one, two):
                with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
                    await asyncio.wait_for(chat.end(), PATIENCE_S)
                assert verdict(chat.body) == NONE
        await until(lambda: all(line.closed for line in agent.lines))

        assert [line.aborts for line in agent.lines] == [[], []]
        assert gateway.logged("stream ended") == []
