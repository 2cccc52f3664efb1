"""Programs of examples/agents whose model is played by aimock, each for a module of tests.

Their environments are installed by `make agents` alone: elsewhere the tests are skipped.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx
import pytest

from agents.before import SETTINGS
from gateway.tokens import KEY
from models.mock import mock
from turnwire_lab.agents.frameworks.agent import FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import OTHER_AGENTS
from turnwire_lab.gateway import Gateway

AGENT_KEY: Final = "sk-a-key-of-these-tests-0f6b1c5d2e"
UPSTREAM: Final = Path(__file__).parent / "upstream"


class Model(NamedTuple):
    """What plays the model, as its tests see it."""

    url: str

    def requests(self, prompt: str) -> list[Any]:
        """The journal's entries about requests that have this text, the oldest first."""
        journal = httpx.get(f"{self.url}/__aimock/journal", trust_env=False).json()
        return [each for each in journal if prompt in str(each["body"])]


def prompts(request: Any) -> list[str]:
    """What users said, in a request to the model."""
    messages = request["body"]["messages"]
    return [message["content"] for message in messages if message["role"] == "user"]


class Served(NamedTuple):
    """A running program, and its model."""

    agent: FrameworkAgent
    model: Model

    def gateway(self, wire: str, **settings: str) -> Gateway:
        """A gateway before it, which is not yet started."""
        given = {
            **SETTINGS,
            **self.agent.settings,
            "TURNWIRE_DIALECT": wire,
            "TURNWIRE_AGENT_TOKEN": AGENT_KEY,
            "TURNWIRE_USAGE": "true",
        }
        return Gateway(agent_url=self.agent.url, jwt_key=KEY, settings=given | settings)


@contextmanager
def served(name: str, home: Path, fixtures: Path) -> Iterator[Served]:
    """Run a program with a home of its own."""
    if not OTHER_AGENTS[name].python.exists():
        pytest.skip(f"{name} is installed by `make agents`")
    with mock(fixtures) as url, pytest.MonkeyPatch.context() as environ, asyncio.Runner() as runner:
        environ.setenv("OPENAI_BASE_URL", f"{url}/v1")
        environ.setenv("AGENT_MODEL", "small-1")
        environ.setenv("AGENT_KEY", AGENT_KEY)
        for variable in ("HOME", "TMPDIR"):
            environ.setenv(variable, str(home))
        agent = FrameworkAgent(name, offline=False)
        environ.undo()
        runner.run(agent.__aenter__())
        try:
            yield Served(agent, Model(url))
        finally:
            runner.run(agent.__aexit__(None, None, None))
