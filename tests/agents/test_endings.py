"""Turns with agents of real frameworks that end otherwise: hung up, stopped, cut."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
import pytest

from agents.before import SETTINGS, TESTED
from agents.counting import CountedAgent
from agents.habits import CUT_AT, CUT_LATE_AT, WORKS_ON
from gateway.needed import lacking
from gateway.tokens import KEY, bearer
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS
from turnwire_lab.faultproxy import FaultProxy, Way
from turnwire_lab.gateway import Gateway
from turnwire_lab.process import HOST

pytestmark = pytest.mark.sockets

STORY: Final = {
    "messages": [
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "tell me a long story"}]}
    ]
}
STORY_PIECES: Final = 100
SETTLED_S: Final = 1.0


@asynccontextmanager
async def counted(name: str) -> AsyncIterator[CountedAgent]:
    FRAMEWORKS[name].python.exists() or lacking(f"{name} is not installed: `make agents`")
    async with CountedAgent(name) as agent:
        yield agent


def chunks(body: str) -> list[dict[str, Any]]:
    data = [line[6:] for line in body.splitlines() if line.startswith("data: {")]
    return [json.loads(each) for each in data]


@pytest.mark.parametrize("framework", TESTED)
async def test_a_hang_up_reaches_the_model_within_a_second(framework: str) -> None:
    async with (
        counted(framework) as agent,
        Gateway(agent_url=agent.url, jwt_key=KEY, settings=SETTINGS) as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
    ):
        url = "/api/sessions/s1/chat"
        async with client.stream("POST", url, json=STORY, headers=bearer()) as response:
            assert response.status_code == 200
            await agent.until(3)
        await asyncio.sleep(SETTLED_S)
        at_rest = agent.pieces
        await asyncio.sleep(SETTLED_S)

        assert (agent.pieces > at_rest) == (framework in WORKS_ON)
        assert agent.pieces < STORY_PIECES / 2


@pytest.mark.parametrize("framework", TESTED)
async def test_a_body_that_is_cut_is_a_turn_that_was_interrupted(framework: str) -> None:
    FRAMEWORKS[framework].python.exists() or lacking(f"{framework} is not installed: `make agents`")
    async with FrameworkAgent(framework) as agent, FaultProxy(agent.port) as line:
        url = urlsplit(agent.url)._replace(netloc=f"{HOST}:{line.port}").geturl()
        async with (
            Gateway(agent_url=url, jwt_key=KEY, settings=SETTINGS) as gateway,
            httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
        ):
            line.back = Way(cut_after=CUT_LATE_AT.get(framework, CUT_AT))
            response = await client.post("/api/sessions/s1/chat", json=STORY, headers=bearer())

    told = chunks(response.text)
    assert [each["errorText"] for each in told if each["type"] == "error"] == ["Stream interrupted"]
    assert told[-1]["type"] == "finish"
    assert any(each["type"] == "text-delta" for each in told)


@pytest.mark.parametrize("framework", TESTED)
async def test_a_stop_ends_the_turn_and_the_model(framework: str) -> None:
    async with (
        counted(framework) as agent,
        Gateway(agent_url=agent.url, jwt_key=KEY, settings=SETTINGS) as gateway,
        httpx.AsyncClient(base_url=gateway.url, trust_env=False, timeout=30) as client,
    ):
        path = "/api/sessions/s1"
        asking = asyncio.create_task(client.post(f"{path}/chat", json=STORY, headers=bearer()))
        await agent.until(3)
        stopped = await client.post(f"{path}/stop", json={}, headers=bearer())
        told = chunks((await asking).text)
        at_rest = agent.pieces
        await asyncio.sleep(SETTLED_S)

    assert stopped.status_code == 200
    assert [each["type"] for each in told[-2:]] == ["abort", "finish"]
    assert agent.pieces <= at_rest + 2 < STORY_PIECES / 2 or framework in WORKS_ON
