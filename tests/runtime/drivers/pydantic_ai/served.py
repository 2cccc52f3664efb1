"""The agent of `assistant.py` as a process of `turnwire-agent serve`, with its own environment."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

import turnwire_agent
from runtime.cli.serve_process import TESTS, Served, serving

PYTHON: Final = TESTS.parent / ".venv/agents/pydantic-ai/bin/python"
INSTALL: Final = "make .venv/agents/pydantic-ai/.stamp"
SOURCE: Final = Path(turnwire_agent.__file__).parents[1]


@asynccontextmanager
async def assistant(
    folder: Path, *, holds: bool = False, module: str = "runtime.drivers.pydantic_ai.assistant"
) -> AsyncIterator[Served]:
    """Serve it from the journal in a folder.

    Args:
        folder: Has what the agent writes, too.
        holds: Whether tools that hold do not end.
        module: Has the agent.

    """
    assert PYTHON.exists(), f"pydantic-ai is installed by `{INSTALL}`"
    name_version(folder)
    variables = {"PYTHONPATH": f"{TESTS}:{SOURCE}"} | ({"HOLD": "1"} if holds else {})
    async with serving(
        *(f"{module}:agent", "--host-lease-s", "1"),
        folder=folder,
        variables=variables,
        python=str(PYTHON),
    ) as served:
        yield served


def name_version(folder: Path) -> None:
    """Let the runtime find its version there: it is not installed in that environment."""
    place = folder / "turnwire_agent-0.dist-info"
    place.mkdir(exist_ok=True)
    metadata = distribution("turnwire-agent").read_text("METADATA")
    (place / "METADATA").write_text(metadata or "")


def asked(folder: Path) -> list[list[Any]]:
    """What the model of the agent was sent, one list of messages for each time."""
    return [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]


def runs(folder: Path) -> list[str]:
    """Which tools ran, in their order, the keyed ones with their keys."""
    path = folder / "ran.txt"
    return path.read_text().splitlines() if path.exists() else []
