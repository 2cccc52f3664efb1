"""The demo before agents of examples/agents, by their wires, and the lab's own over HTTP."""

import asyncio
import os
import re
import subprocess
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import httpx
import pytest

from gateway.needed import lacking
from turnwire_lab.agents.frameworks.catalog import (
    ACP,
    FRAMEWORKS,
    LOCAL_MODEL,
    OTHER_AGENTS,
    PROMPTS,
    ROOT,
    UI_STREAM,
)
from turnwire_lab.cli import main
from turnwire_lab.page.serving import BUILT

EXAMPLES = FRAMEWORKS | OTHER_AGENTS
MAKEFILE = ROOT / "Makefile"
PORTS = ("--port", "0", "--metrics-port", "0", "--page-port", "0", "--site-port", "0")


def made(agent: str, model: str = "") -> subprocess.CompletedProcess[str]:
    """What `make demo` would do."""
    return subprocess.run(
        # Even with `-n`, make runs each line that has a `$(MAKE)`.
        [
            "make",
            "-n",
            "--no-print-directory",
            f"--file={MAKEFILE}",
            "demo",
            f"AGENT={agent}",
            f"MODEL={model}",
            "MAKE=echo",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


async def lab(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", *arguments), stdout=PIPE, stderr=PIPE
    )


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("agent", "wire", "told"),
    [
        (("--framework", "pydantic-ai"), "ag-ui", "12*7 is 84"),
        (("--framework", "langgraph"), "ag-ui", "12*7 is 84"),
        (("--framework", ACP), "acp", "12*7 is 84"),
        (("--framework", UI_STREAM), "ui-stream", "12*7 is 84"),
        (("--wire", "ag-ui", "--pace", "0"), "ag-ui", "12*7 is **84**"),
    ],
)
async def test_the_demo_answers(agent: tuple[str, ...], wire: str, told: str) -> None:
    framework = EXAMPLES.get(agent[1])
    if framework and not framework.python.exists():
        lacking(f"{framework.name} is not installed")
    demo = await lab("demo", *PORTS, *agent)
    assert demo.stdout is not None
    lines: dict[str, str] = {}
    while (line := (await demo.stdout.readline()).decode()) and "Ctrl-C ends" not in line:
        if words := line.split():
            lines[words[0]] = line.strip()
    token = lines["export"].rpartition("TOKEN=")[2]
    url = lines["gateway"].split()[1]
    chat = await lab("chat", "--url", url, "--token", token, "--once", "what is 12*7?")
    said = (await chat.communicate())[0].decode()
    if (BUILT / "index.html").is_file():
        async with httpx.AsyncClient(trust_env=False) as http:
            setup = (await http.get(f"{lines['page'].split()[1]}lab/setup")).json()
        assert setup["wire"] == wire
        assert ([list(prompt) for prompt in PROMPTS] == setup["prompts"]) == (len(told) < 12)
        assert setup["agent"] == (framework.title if framework else "")
        assert "slow-client" not in setup["faults"]
    demo.terminate()
    await demo.communicate()

    assert told in said
    assert chat.returncode == 0


@pytest.mark.parametrize(
    ("agent", "environment", "option"),
    [
        ("langgraph", "langgraph", "--framework langgraph"),
        ("acp", "acp", f"--framework {ACP}"),
        ("ui-stream", "pydantic-ai", f"--framework {UI_STREAM}"),
        ("ag-ui", "", "--wire ag-ui"),
    ],
)
def test_make_installs_and_starts_the_agent_that_it_is_told(
    agent: str, environment: str, option: str
) -> None:
    told = made(agent).stdout
    installed = set(re.findall(r" \.venv/agents/(\S+)/\.stamp", told))
    assert installed == ({environment} if environment else set())
    assert told.split(" -m turnwire_lab demo ")[1].strip() == option


@pytest.mark.parametrize(
    ("model", "environment"), [("local", {LOCAL_MODEL}), ("anthropic:claude-sonnet-4-5", set())]
)
def test_make_starts_the_runtime_with_the_model_that_it_is_told(
    model: str, environment: set[str]
) -> None:
    told = made("", model).stdout
    assert set(re.findall(r" \.venv/agents/(\S+)/\.stamp", told)) == environment
    assert told.split(" -m turnwire_lab demo ")[1].strip() == f"--model {model}"


@pytest.mark.parametrize(
    "other", [("--wire", "ag-ui"), ("--framework", "langgraph"), ("--opaque",)]
)
def test_a_model_is_that_of_the_runtime_alone(
    other: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--model", "local", *other]) == 2
    assert "its agent is the runtime" in capsys.readouterr().err


@pytest.mark.sockets
async def test_a_model_without_its_key_is_one_line(tmp_path: Path) -> None:
    environ = {k: v for k, v in os.environ.items() if k != "ANTHROPIC_API_KEY"}
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", "demo", *PORTS),
        *("--model", "anthropic:claude-sonnet-4-5", "--folder", str(tmp_path)),
        stdout=PIPE,
        stderr=PIPE,
        env=environ,
    )
    out, errors = await program.communicate()
    assert (program.returncode, out) == (1, b"")
    (line,) = errors.decode().splitlines()
    assert line.startswith("turnwire-lab demo: anthropic:claude-sonnet-4-5 needs a key: ")
    assert "ANTHROPIC_API_KEY" in line


def test_make_tells_whom_it_knows() -> None:
    assert "AGENT is one of: ag-ui acp ui-stream pydantic-ai " in made("nobody").stdout


def test_an_agent_that_knows_no_users_cannot_be_asked_who_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--wire", "ag-ui", "--opaque"]) == 2
    assert "knows no users" in capsys.readouterr().err
