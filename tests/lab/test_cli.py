"""The lab's command line: what it says to strangers, and its exit codes."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from turnwire_lab.agents.v2.line import line
from turnwire_lab.agents.v2.server import ReferenceAgent
from turnwire_lab.cli import main


@pytest.mark.parametrize("command", [[], ["demo"], ["agent"], ["chat"]])
def test_help_is_a_success(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, "--help"]) == 0
    assert "usage: turnwire-lab" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "start an agent and a gateway"),
        (["sing"], "no command 'sing'; there are demo, agent, chat, bench"),
        (["dmeo"], "no command 'dmeo'; did you mean demo?"),
        (["demo", "--port", "70000"], "a port is a number from 0 to 65535"),
        (["agent", "--port", "x"], "a port is a number"),
        (["agent", "--pace", "-1"], "seconds are a number, 0 or more"),
        (["agent", "--pace", "soon"], "seconds are a number, 0 or more"),
        (["agent", "--told", "thrice"], "invalid choice"),
    ],
)
def test_a_wrong_command_line_is_2(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert words in capsys.readouterr().err


async def start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", "agent", *arguments), stdout=PIPE, stderr=PIPE
    )


@pytest.mark.sockets
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_the_agent_runs_until_it_is_stopped(number: signal.Signals) -> None:
    agent = await start("--port", "0", "--told", "chunk")
    assert agent.stdout is not None
    url = (await agent.stdout.readline()).decode().split()[-1]
    async with line(url) as ours:
        frames = await ours.turn("say 2 deltas")
    agent.send_signal(number)

    assert (await agent.communicate())[1] == b""
    assert agent.returncode == 0
    assert frames[-2]["finalText"] == "0 1 "
    assert "message.part.text-delta" not in {frame["type"] for frame in frames}


@pytest.mark.sockets
async def test_an_agent_whose_port_is_taken_is_1() -> None:
    async with ReferenceAgent() as taken:
        agent = await start("--port", str(taken.port))
        out, errors = await agent.communicate()

    assert (agent.returncode, out) == (1, b"")
    assert b"cannot listen: Address already in use" in errors
