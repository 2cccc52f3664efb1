"""The session agent from the command line, alone and in the demo."""

import asyncio
import signal
import sys
from asyncio.subprocess import PIPE

import pytest

from turnwire_lab.agents.session_agent.habits import REVISIONS, Revision
from turnwire_lab.agents.session_agent.line import client
from turnwire_lab.agents.session_agent.server import SessionAgent
from turnwire_lab.cli import main


@pytest.mark.parametrize("option", [["--wire", "morse"], ["--revision", "Z"]])
@pytest.mark.parametrize("command", ["agent", "demo"])
def test_a_wire_or_revision_that_is_none_is_2(
    command: str, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *option]) == 2
    assert "invalid choice" in capsys.readouterr().err


async def start(*arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire_lab", *arguments), stdout=PIPE, stderr=PIPE
    )


@pytest.mark.sockets
@pytest.mark.parametrize("revision", REVISIONS)
async def test_the_agent_speaks_the_revision_it_is_told(revision: Revision) -> None:
    wire = ("--wire", "session-agent", "--revision", revision)
    agent = await start("agent", "--port", "0", "--pace", "0", *wire)
    assert agent.stdout is not None
    line = (await agent.stdout.readline()).decode()
    async with client(line.split()[-1]) as ours:
        init = await ours.hear("init")
        await ours.prompt("say 2 deltas")
        turn = await ours.finish(await ours.bind())
    agent.send_signal(signal.SIGTERM)

    assert (await agent.communicate())[1] == b""
    assert agent.returncode == 0
    assert f"speaks session-agent as of {revision} at ws://127.0.0.1:" in line
    assert ("messages" in init["session"]) is (revision == "R")
    assert turn["content"] == "0 1 "


@pytest.mark.sockets
@pytest.mark.parametrize("command", ["agent", "demo"])
async def test_a_port_that_is_taken_is_told(command: str) -> None:
    async with SessionAgent() as taken:
        option = "--port" if command == "agent" else "--agent-port"
        wire = ("--wire", "session-agent", option, str(taken.port))
        child = await start(command, *wire)
        out, errors = await child.communicate()

    assert (child.returncode, out) == (1, b"")
    assert b"Address already in use" in errors
