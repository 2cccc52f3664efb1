"""The recipe of docs/frameworks.md is pasted as it stands there, but for the ports."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gateway.clients import is_whole, said
from gateway.needed import lacking
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
BLOCK: Final = re.compile(r"<!-- (\w+)(?:: (.+?))? -->\n```sh\n(.*?)```", re.DOTALL)
RECIPE: Final = {name: (expected, code) for name, expected, code in BLOCK.findall(PAGE)}
PORTS: Final = (8000, 8790, 9790)
INSTALLS: Final = "make .venv/agents/pydantic-ai/.stamp\n"
(ENDS,) = re.findall(r"^`(kill .+?)` ends both", PAGE, re.MULTILINE)


def test_the_lines_are_pasted_and_the_agent_answers() -> None:
    FRAMEWORKS["pydantic-ai"].python.exists() or lacking("pydantic-ai is not installed")
    expected, asks = RECIPE["ask"]
    serves = RECIPE["serve"][1]
    assert serves.startswith(INSTALLS)
    code = f"set -m\n{serves.removeprefix(INSTALLS)}{asks}{ENDS}\nwait\n"
    for written in PORTS:
        assert str(written) in code
        code = code.replace(str(written), str(free_port()))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # An agent takes longer to start than the gateway, which does not wait for it.
    waits = 'until curl -s -o /dev/null "$TURNWIRE_AGENT_URL"; do sleep 0.1; done\nANN='
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code.replace("ANN=", waits, 1)],
        cwd=ROOT,
        env={"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert "The settings are fine." in ran.stdout, ran.stderr
    answer = ran.stdout[ran.stdout.index("event:") :]
    assert said(answer).endswith(expected)
    assert is_whole(answer)


def test_every_framework_has_a_row() -> None:
    for framework in FRAMEWORKS.values():
        assert f"| `{framework.path}` | " in PAGE
    assert PAGE.count("| `/") == len(FRAMEWORKS)


def test_the_installed_agent_is_the_one_that_the_makefile_installs() -> None:
    assert "AGENTS := pydantic-ai langgraph\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
