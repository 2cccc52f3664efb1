"""The demo before agents over HTTP: that of a framework, and the lab's own."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process

import httpx
import pytest

from gateway.needed import lacking
from turnwire_lab.agents.frameworks.catalog import FRAMEWORKS, PROMPTS
from turnwire_lab.cli import main
from turnwire_lab.page.serving import BUILT

PORTS = ("--port", "0", "--metrics-port", "0", "--page-port", "0", "--site-port", "0")


async def lab(*arguments: str) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", *arguments), stdout=PIPE, stderr=PIPE
    )


@pytest.mark.sockets
@pytest.mark.parametrize(
    ("agent", "told"),
    [
        (("--framework", "pydantic-ai"), "12*7 is 84"),
        (("--framework", "langgraph"), "12*7 is 84"),
        (("--pace", "0"), "12*7 is **84**"),
    ],
)
async def test_the_demo_answers(agent: tuple[str, ...], told: str) -> None:
    framework = agent[1] if "--framework" in agent else ""
    if framework and not FRAMEWORKS[framework].python.exists():
        lacking(f"{framework} is not installed")
    demo = await lab("demo", *PORTS, "--wire", "ag-ui", *agent)
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
        assert setup["wire"] == "ag-ui"
        assert ([list(prompt) for prompt in PROMPTS] == setup["prompts"]) == (len(told) < 12)
        assert setup["agent"] == (FRAMEWORKS[framework].title if framework else "")
        assert "slow-client" not in setup["faults"]
    demo.terminate()
    await demo.communicate()

    assert told in said
    assert chat.returncode == 0


def test_an_agent_that_knows_no_users_cannot_be_asked_who_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--wire", "ag-ui", "--opaque"]) == 2
    assert "knows no users" in capsys.readouterr().err
