"""The lab's session agent, and a gateway before it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from gateway.running import Gateway
from turnwire_lab.agents.session_agent.habits import Habits
from turnwire_lab.agents.session_agent.server import SessionAgent


@asynccontextmanager
async def product(habits: Habits, **settings: Any) -> AsyncIterator[tuple[SessionAgent, Gateway]]:
    """`async with product(Habits(revision="V"), idle_s=0.2) as (agent, gateway):`."""
    async with (
        SessionAgent(habits) as agent,
        Gateway(agent.url, dialect="session-agent", **settings) as gateway,
    ):
        yield agent, gateway
