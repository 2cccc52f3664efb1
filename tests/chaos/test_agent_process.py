"""The agent's process dies, or stops without dying."""

import asyncio
import signal

import pytest

from chaos.verdicts import agree
from gateway.agent_process import AgentProcess
from gateway.clients import errors, is_whole, said
from gateway.reading import App
from gateway.served import Served
from gateway.waiting import PATIENCE_S

pytestmark = pytest.mark.sockets


@pytest.mark.fault("the agent is killed in mid-turn", "“Stream interrupted” within a second")
async def test_an_agent_that_is_killed_interrupts_every_one_of_its_streams() -> None:
    async with AgentProcess() as agent, Served(agent.url) as gateway:
        async with (
            App(gateway, session="a").prompt("hang") as one,
            App(gateway, session="b").prompt("hang") as two,
        ):
            await one.sees("until")
            await two.sees("until")
            agent.signal(signal.SIGKILL)
            bodies = await asyncio.wait_for(asyncio.gather(one.end(), two.end()), PATIENCE_S)

        assert [errors(body) for body in bodies] == [["Stream interrupted"]] * 2
        assert await agree(gateway, bodies) == {"interrupted": 2}


@pytest.mark.fault(
    "the agent is stopped (SIGSTOP) in mid-turn",
    "keepalives continue; at the idle limit “Agent stopped responding”",
)
async def test_time_alone_distinguishes_a_frozen_agent_from_one_that_thinks() -> None:
    async with (
        AgentProcess() as agent,
        Served(agent.url, keepalive_s=0.1, idle_s=1) as gateway,
    ):
        async with App(gateway).prompt("tell me a long story") as chat:
            await chat.sees("text-delta")
            agent.signal(signal.SIGSTOP)
            body = await chat.end()

        _, _, after_text = body.rpartition(b"text-delta")
        assert after_text.count(b": keepalive") >= 5
        assert errors(body) == ["Agent stopped responding"]
        assert is_whole(body)
        assert await agree(gateway, [body]) == {"silent": 1}


@pytest.mark.fault("the agent is stopped, and continues before the limit", "nothing is lost")
async def test_an_agent_that_thaws_in_time_goes_on() -> None:
    async with (
        AgentProcess() as agent,
        Served(agent.url, keepalive_s=0.1, idle_s=20) as gateway,
    ):
        async with App(gateway).prompt("tell me a long story") as chat:
            await chat.sees("text-delta")
            agent.signal(signal.SIGSTOP)
            await chat.sees(": keepalive\n\n: keepalive")
            agent.signal(signal.SIGCONT)
            body = await chat.end()

        assert said(body).endswith("and this is the end.")
        assert await agree(gateway, [body]) == {"completed": 1}


@pytest.mark.fault("the agent is down, then up again", "“Connection failed” until it is back")
async def test_an_agent_that_comes_back_is_dialled_at_once() -> None:
    async with AgentProcess() as agent, Served(agent.url) as gateway:
        bodies = []
        agent.signal(signal.SIGKILL)
        await agent.gone()
        async with App(gateway).prompt("say nothing") as chat:
            bodies.append(await chat.end())
        async with (
            AgentProcess(port=agent.port),
            App(gateway).prompt("say nothing") as chat,
        ):
            bodies.append(await chat.end())

        assert [errors(body) for body in bodies] == [["Connection failed"], []]
        assert await agree(gateway, bodies) == {"unreachable": 1, "completed": 1}
