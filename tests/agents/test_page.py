"""The recipe of docs/frameworks.md is pasted as it stands there, but for the ports.

So are the lines of LangGraph, in the place of those of pydantic-ai. The lines of the others are
those that the catalog of frameworks makes.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from gateway.clients import is_whole, said
from gateway.needed import lacking
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS, Framework
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets

ROOT: Final = Path(__file__).parents[2]
PAGE: Final = (ROOT / "docs" / "frameworks.md").read_text(encoding="utf-8")
BLOCK: Final = re.compile(r"<!-- (\w+)(?:: (.+?))? -->\n```sh\n(.*?)```", re.DOTALL)
RECIPE: Final = {name: (expected, code) for name, expected, code in BLOCK.findall(PAGE)}
LINES: Final = {about: code for name, about, code in BLOCK.findall(PAGE) if name == "lines"}
PORTS: Final = (8000, 8790, 9790)
EXCHANGED: Final = ("make .venv/", "export TURNWIRE_ENABLED=", "(cd examples/agents ")
"""How the lines of the recipe begin that are other ones for each framework."""
(ENDS,) = re.findall(r"^`(kill .+?)` ends both", PAGE, re.MULTILINE)


def begun_as(begin: str, code: str) -> str:
    (line,) = (line for line in code.splitlines() if line.startswith(begin))
    return line


def recipe(framework: str) -> str:
    """The lines that serve an agent, as a reader of the page exchanges them."""
    code: str = RECIPE["serve"][1]
    for begin in EXCHANGED:
        code = code.replace(begun_as(begin, code), begun_as(begin, LINES[framework]))
    return code


@pytest.mark.parametrize("framework", ["pydantic-ai", "langgraph"])
def test_the_lines_are_pasted_and_the_agent_answers(framework: str) -> None:
    FRAMEWORKS[framework].python.exists() or lacking(f"{framework} is not installed")
    expected, asks = RECIPE["ask"]
    serves = recipe(framework)
    installs = f"make .venv/agents/{framework}/.stamp\n"
    assert serves.startswith(installs)
    code = f"set -m\n{serves.removeprefix(installs)}{asks}{ENDS}\nwait\n"
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


def lines_of(framework: Framework) -> str:
    """The lines that serve an agent, by what is known of its framework."""
    keeper = " TURNWIRE_HISTORY=agent" if framework.history == "agent" else ""
    url = f"http://127.0.0.1:8000{framework.path}"
    serves = "(cd examples/agents && exec ../../.venv/{}bin/python -m uvicorn {} --port {}) &\n"
    model = (
        "export OPENAI_BASE_URL=http://127.0.0.1:9000/v1 OPENAI_API_KEY=none\n",
        serves.format("", "offline.openai_server:app", 9000),
    )
    return "".join(
        (
            f"make .venv/agents/{framework.name}/.stamp\n",
            "export TURNWIRE_ENABLED=true TURNWIRE_DIALECT=ag-ui ",
            f"TURNWIRE_AGENT_URL={url}{keeper}\n",
            *(model if framework.asks_server else ()),
            serves.format(f"agents/{framework.name}/", framework.application, 8000),
        )
    )


@pytest.mark.parametrize("framework", FRAMEWORKS.values(), ids=lambda each: each.name)
def test_the_page_has_agent_settings_and_start_lines_of_every_framework(
    framework: Framework,
) -> None:
    assert LINES[framework.name] == lines_of(framework)
    _, _, section = PAGE.partition(f"\n### {framework.title}\n")
    file = f"{framework.application.partition(':')[0]}.py"
    assert f"```{{literalinclude}} ../examples/agents/{file}\n```" in section.partition("\n### ")[0]


def test_the_recipe_is_that_of_the_first_framework() -> None:
    assert recipe("pydantic-ai") == RECIPE["serve"][1]


def test_every_framework_has_a_row() -> None:
    for framework in FRAMEWORKS.values():
        assert f"| `{framework.path}` | " in PAGE
    assert PAGE.count("| `/") == len(FRAMEWORKS)


def test_the_installed_agent_is_the_one_that_the_makefile_installs() -> None:
    assert "AGENTS := pydantic-ai langgraph\n" in (ROOT / "Makefile").read_text(encoding="utf-8")
