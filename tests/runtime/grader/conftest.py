"""llmock, which plays providers, breaks their answers, and judges the client."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

PYTHON: Final = Path(__file__).parents[3] / ".venv/runtime-grader/bin/python"
SERVE: Final = """
import sys
from llmock.testing import LLMockServer
with LLMockServer() as server:
    print(server.base_url("openai"), flush=True)
    sys.stdin.read()
"""


class Grader:
    """What it plays next, and what it thinks of the client."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.http = httpx.Client(base_url=f"{origin}/_llmock", trust_env=False, timeout=30)

    def plays(self, *behaviours: dict[str, Any]) -> None:
        """Forget what was, and play this from now on."""
        self.http.post("/reset").raise_for_status()
        if behaviours:
            body = {"behaviors": list(behaviours)}
            self.http.post("/scenario", json=body).raise_for_status()

    def rests(self) -> None:
        """Wait until it has noticed that the client is gone."""
        self.http.get("/requests").raise_for_status()

    def verdict(self) -> dict[str, Any]:
        """The verdict on all since `plays`. Any finding fails the test, a warning too."""
        verdict: dict[str, Any] = self.http.get("/verdict").json()

        assert verdict["findings"] == [], json.dumps(verdict["findings"], indent=1)
        return verdict


@pytest.fixture(scope="session")
def grader() -> Iterator[Grader]:
    if not PYTHON.exists():
        pytest.skip("make agent-check installs llmock")
    process = subprocess.Popen(
        [PYTHON, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("LLMOCK_")},
    )
    assert process.stdout
    with process:
        grader = Grader(process.stdout.readline().strip().removesuffix("/v1"))
        yield grader
        grader.http.close()
        process.communicate()
