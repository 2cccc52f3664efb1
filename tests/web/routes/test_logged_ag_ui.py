"""The turn log before a real AG-UI agent: resume, stop, and answers beside the stream."""

from collections.abc import AsyncIterator

import pytest

from gateway.asking_agent import call, prompting, resuming
from gateway.clients import ask, chunks, outline, said
from gateway.running import Gateway
from gateway.waiting import until
from support.client_model import read
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits

pytestmark = pytest.mark.sockets


@pytest.fixture
async def agent() -> AsyncIterator[AgUiAgent]:
    async with AgUiAgent(Habits(pace_s=0.002, slow_s=0.01)) as agent:
        yield agent


@pytest.fixture
async def gateway(agent: AgUiAgent) -> AsyncIterator[Gateway]:
    async with Gateway(f"{agent.url}?session={{session_id}}", dialect="ag-ui") as gateway:
        yield gateway


async def test_a_reload_in_mid_turn(gateway: Gateway) -> None:
    """The agent has no resume, and the client hears the same message again, to its end."""
    async with prompting(gateway, policy="grace", body=ask("what is 12*7?")) as prompt:
        await prompt.sees("tool-input-start")
        async with resuming(gateway, user="u1") as reader:
            await prompt.hang_up()
            body = await reader.end()

    seen = read(body)
    assert set(seen.tools.values()) == {"output"}
    assert "84" in said(body)


async def test_a_stop_reaches_the_agent(agent: AgUiAgent, gateway: Gateway) -> None:
    async with prompting(gateway, body=ask("tell me a long story")) as prompt:
        await until(lambda: "evening 2 " in said(prompt.body))
        stopped = await call(gateway, "stop", {})
        body = await prompt.end()
        await until(lambda: agent.connections == 0)

    assert stopped.json()["reason"] == "canceled"
    assert outline(body)[-2:] == ["abort", "finish"]
    assert "evening 200 " not in said(body)


async def test_an_approval_of_the_portable_profile(agent: AgUiAgent, gateway: Gateway) -> None:
    async with prompting(gateway, body=ask("approve 12*7")) as prompt:
        await prompt.sees('"state":"open"')
        async with resuming(gateway) as reader:
            await reader.sees('"state":"open"')
            question = next(c for c in chunks(reader.body) if c["type"] == "data-question")
            answer = {"questionId": question["id"], "answer": True}
            answered = await call(gateway, "answer", answer)
            twice = await call(gateway, "answer", answer)
            bodies = [await prompt.end(), await reader.end()]

    assert (answered.status_code, twice.status_code) == (202, 409)
    first, second = map(read, bodies)
    assert first.parts == second.parts
    assert set(first.questions.values()) == {"resolved"}
    assert set(first.tools.values()) == {"output"}
    assert len(agent.runs) == 2
