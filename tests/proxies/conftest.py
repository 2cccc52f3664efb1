"""To start things takes time: one agent and two gateways for all, one proxy for each kind."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from gateway.agent import ScriptedAgent
from gateway.served import Served
from proxies.edge import Behind, Edge
from proxies.fronts import FRONTS


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def behind() -> AsyncIterator[Behind]:
    async with (
        ScriptedAgent() as agent,
        Served(agent.url(), stall_s=2) as one,
        Served(agent.url(), stall_s=2) as other,
    ):
        yield Behind(agent, (one, other))


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=FRONTS, ids=lambda kind: kind.__name__
)
async def edge(
    request: pytest.FixtureRequest, behind: Behind, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Edge]:
    async with request.param(tmp_path_factory.mktemp("front"), behind.ports) as front:
        yield Edge(behind, front)
