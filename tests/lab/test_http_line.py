"""The line between gateway and an agent over HTTP: what it shows, passes on, and harms."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from turnwire_lab.agents.ag_ui.answer import Answer
from turnwire_lab.agents.ag_ui.journal import End
from turnwire_lab.agents.ag_ui.server import AgUiAgent
from turnwire_lab.agents.ag_ui.turn import Habits
from turnwire_lab.wiretap.harm import FLOOD, Fault, Harm
from turnwire_lab.wiretap.http_line import HttpLine
from turnwire_lab.wiretap.wire import Entry, Wire

pytestmark = pytest.mark.sockets

RUN = {"x-request-id": "run-1"}


class Between:
    """An agent, the line before it, and what the line wrote down."""

    def __init__(self, agent: AgUiAgent, line: HttpLine, wire: Wire, harm: Harm) -> None:
        self.agent = agent
        self.harm = harm
        self.url = line.url.format(session_id="s1")
        self._wire = wire
        self.restarts = 0

    async def entries(self) -> list[Entry]:
        with self._wire.watch() as watch:
            return (await watch.next()).entries


@asynccontextmanager
async def between() -> AsyncIterator[Between]:
    wire, harm = Wire(), Harm(lambda: None)
    async with (
        AgUiAgent(Habits(pace_s=0, slow_s=0)) as agent,
        HttpLine(agent.url, wire, harm) as line,
    ):
        yield Between(agent, line, wire, harm)


def asked(prompt: str) -> dict[str, Any]:
    message = {"id": "m1", "role": "user", "content": prompt}
    return {"threadId": "t1", "runId": "r1", "messages": [message]}


async def post(setup: Between, prompt: str) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False) as client:
        return await client.post(setup.url, json=asked(prompt), headers=RUN)


async def test_it_passes_a_run_on_and_writes_every_event_down() -> None:
    async with between() as setup:
        response = await post(setup, "hello")

        entries = await setup.entries()
        events = [line[6:] for line in response.text.splitlines() if line]
        assert setup.agent.runs[0].request.target == "/agent"
        assert setup.agent.runs[0].request.headers["x-request-id"] == "run-1"
        assert [(each.lane, each.kind) for each in entries] == [
            ("command", "RunAgentInput"),
            *(("frame", json.loads(event)["type"]) for event in events),
        ]
        assert {(each.run, each.session) for each in entries} == {("run-1", "s1")}


async def test_a_refusal_of_the_agent_is_passed_on() -> None:
    async with between() as setup:
        setup.agent.answers.append(Answer(status=429, headers={"retry-after": "3"}))

        response = await post(setup, "hello")

        assert (response.status_code, response.headers["retry-after"]) == (429, "3")


async def test_an_agent_that_is_not_there_is_503() -> None:
    async with HttpLine("http://127.0.0.1:9/agent", Wire(), Harm(lambda: None)) as line:
        async with httpx.AsyncClient(trust_env=False) as client:
            response = await client.post(line.url.format(session_id="s1"), json={})

        assert response.status_code == 503


async def test_a_body_that_breaks_off_breaks_off_behind_it_too() -> None:
    async with between() as setup:
        setup.agent.answers.append(Answer(body=[b'data: {"type":"X"}\n\n', b"data"]).cut(20))

        with pytest.raises(httpx.RemoteProtocolError):
            await post(setup, "hello")


async def test_a_gateway_that_hangs_up_hangs_up_on_the_agent() -> None:
    async with between() as setup:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(post(setup, "hang"), 0.3)

        await setup.agent.until(lambda: setup.agent.runs[0].ended is End.HUNG_UP)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("agent-floods", "the flood is over"),
        ("agent-babbles", "the agent babbles"),
        ("gateway-restarts", "the gateway restarts"),
    ],
)
async def test_harm_in_the_middle_of_an_answer_that_goes_on(fault: Fault, told: str) -> None:
    async with between() as setup:
        setup.harm.plan("s1", fault)

        response = await post(setup, "hello")

        assert '"RUN_FINISHED"' in response.text
        assert response.text.count("telemetry") == (FLOOD if fault == "agent-floods" else 0)
        assert told in [each.kind for each in await setup.entries()]


async def test_an_agent_that_dies_breaks_off() -> None:
    async with between() as setup:
        setup.harm.plan("s1", "agent-dies")

        with pytest.raises(httpx.RemoteProtocolError):
            await post(setup, "hello")


async def test_an_agent_that_hangs_says_no_more() -> None:
    async with between() as setup:
        setup.harm.plan("s1", "agent-hangs")

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(post(setup, "hello"), 0.5)

        assert "RUN_FINISHED" not in [each.kind for each in await setup.entries()]
