"""A real gateway before the lab's reference agent, and both kinds of client."""

from collections.abc import AsyncIterator

import pytest

from client_python.driving import Kind
from gateway.running import Gateway
from turnwire_lab.agents.v2.frames import Habits
from turnwire_lab.agents.v2.server import ReferenceAgent


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
async def agent() -> AsyncIterator[ReferenceAgent]:
    async with ReferenceAgent(Habits(pace_s=0.002)) as agent:
        yield agent


@pytest.fixture
async def gateway(agent: ReferenceAgent) -> AsyncIterator[Gateway]:
    async with Gateway(agent.url, usage="true") as gateway:
        yield gateway
