"""The start of an agent of a framework; tests/agents has what they say."""

import sys
from pathlib import Path

import pytest

from turnwire_lab.agents.frameworks.agent import AgentDown, FrameworkAgent
from turnwire_lab.agents.frameworks.catalog import EXAMPLES, FRAMEWORKS, OTHER_AGENTS, Framework

OF_NO_FRAMEWORK = {"second_agent.py", "second_agent_asks.py"}


def test_every_framework_has_its_file_and_its_lock() -> None:
    files = {path.name for path in EXAMPLES.glob("*.py")} - OF_NO_FRAMEWORK
    locks = {path.stem for path in (EXAMPLES / "requirements").glob("*.txt")}

    agents = [*FRAMEWORKS.values(), *OTHER_AGENTS.values()]
    assert {f"{each.application.partition(':')[0]}.py" for each in agents} == files
    assert {each.environment or each.name for each in agents} == locks


async def test_a_framework_that_is_not_installed_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(FRAMEWORKS, "none", Framework("none", "None"))

    with pytest.raises(AgentDown, match="none is not installed: `make agents` does it"):
        async with FrameworkAgent("none"):
            pass


@pytest.mark.sockets
async def test_an_agent_that_does_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Broken(Framework):
        @property
        def python(self) -> Path:
            return Path(sys.executable)

    monkeypatch.setitem(FRAMEWORKS, "no-such", Broken("no-such", "No such"))

    with pytest.raises(AgentDown, match="no_such_agent:app ended at once"):
        async with FrameworkAgent("no-such"):
            pass
