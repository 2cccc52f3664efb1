"""opencode behind a bridge, with a home of its own; its model is played by aimock."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from agents.before import SETTINGS
from agents.served import AGENT_KEY, UPSTREAM, Model
from gateway.needed import lacking
from gateway.tokens import KEY
from models.mock import mock
from turnwire_lab.agents.frameworks.catalog import ACP, OTHER_AGENTS
from turnwire_lab.gateway import Gateway
from turnwire_lab.process import HOST, free_port, inherited

OPENCODE: Final = Path(__file__).parent / "opencode/node_modules/opencode-linux-x64/bin/opencode"
QUIET: Final = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}
"""So that it asks nobody but its model."""
END_S: Final = 10.0
START_S: Final = 60.0


class Bridged(NamedTuple):
    """A running bridge, and what is behind it."""

    port: int
    project: Path
    model: Model
    log: Path
    """What the bridge says about its processes."""

    def processes(self, how: str) -> int:
        """How many of its processes `began`, or `ended`."""
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return sum(line.endswith(f" {how}") for line in lines)

    def gateway(self, **settings: str) -> Gateway:
        """A gateway before it, which is not yet started."""
        given = {
            **SETTINGS,
            "TURNWIRE_DIALECT": "acp",
            "TURNWIRE_AGENT_AUTH": "service",
            "TURNWIRE_AGENT_TOKEN": AGENT_KEY,
            "TURNWIRE_AGENT_CWD": str(self.project),
            # A process has to start before it can tell the history: on a busy machine, slowly.
            "TURNWIRE_DIAL_S": "60",
        }
        url = f"ws://{HOST}:{self.port}/?session={{session_id}}"
        return Gateway(agent_url=url, jwt_key=KEY, settings=given | settings)


@contextmanager
def bridged(folder: Path, *, by_sdk: bool = False) -> Iterator[Bridged]:
    """Run a bridge: ours, or one of the SDK's parts. Each connection starts an opencode."""
    if not OPENCODE.exists():
        pytest.skip("opencode is installed by `make agents`")
    sdk = OTHER_AGENTS[ACP].python
    if by_sdk and not sdk.exists():
        lacking("the SDK is not installed: `make tools`")
    home, project, log = folder / "home", folder / "project", folder / "bridge.log"
    home.mkdir()
    project.mkdir()
    port = free_port()
    with mock(UPSTREAM / "opencode.json") as url, log.open("wb") as errors:
        config = home / "opencode.json"
        config.write_text(json.dumps(_configured(url)), encoding="utf-8")
        environ = {name: each for name, each in inherited().items() if not name.startswith("XDG_")}
        environ |= QUIET | {"HOME": str(home), "OPENCODE_CONFIG": str(config)}
        # It makes its database. Two that make it at once find it locked, and one of them ends.
        subprocess.run(
            [OPENCODE, "session", "list"], env=environ, stdin=subprocess.DEVNULL, check=True
        )
        command: list[str | Path] = (
            [sdk, "-m", "uvicorn", "sdk_bridge:app", f"--port={port}"]
            if by_sdk
            else [
                sys.executable,
                "-m",
                "turnwire",
                "bridge",
                f"--port={port}",
                "--",
                OPENCODE,
                "acp",
            ]
        )
        with subprocess.Popen(
            command,
            cwd=Path(__file__).parent if by_sdk else None,
            env=environ | {"OPENCODE": str(OPENCODE), "TURNWIRE_AGENT_TOKEN": AGENT_KEY},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process:
            assert process.stdout is not None
            try:
                if by_sdk:
                    _answers(port, process)
                else:
                    assert str(port) in process.stdout.readline().decode(), log.read_text()
                yield Bridged(port, project, Model(url), log)
            finally:
                process.terminate()
                process.wait(END_S)


def _answers(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until it takes connections."""
    deadline = time.monotonic() + START_S
    while True:
        with suppress(OSError), socket.create_connection((HOST, port)):
            return
        assert process.poll() is None, "it ended at once"
        assert time.monotonic() < deadline, "it does not listen"
        time.sleep(0.05)


def _configured(model: str) -> dict[str, object]:
    """Its settings. It asks before it removes a file, and not for other commands."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {"small-1": {"reasoning": True, "limit": {"context": 100_000, "output": 4_000}}},
    }
    return {
        "provider": {"mock": provider},
        "model": "mock/small-1",
        "small_model": "mock/small-1",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"bash": {"*": "allow", "rm *": "ask"}},
    }
