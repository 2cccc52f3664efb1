"""`turnwire-agent serve` as a process of the demo: it is killed, and the next one goes on."""

import asyncio
import os
import signal
import sqlite3
from pathlib import Path

import pytest

from turnwire_lab.agents.frameworks.agent import AgentDown
from turnwire_lab.process import HOST
from turnwire_lab.runtime.process import RuntimeAgent, state_folder

pytestmark = pytest.mark.sockets

NOBODY = "http://127.0.0.1:9/v1"


async def listens(agent: RuntimeAgent) -> None:
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection(HOST, agent.port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


async def test_a_killed_process_is_started_again_on_its_port_and_journal(tmp_path: Path) -> None:
    told: list[str] = []
    goes_on = asyncio.Event()

    def tell(line: str) -> None:
        told.append(line)
        if "goes on" in line:
            goes_on.set()

    folder = tmp_path / "deep" / "state"
    async with RuntimeAgent("llama-cpp:x", folder=folder, base_url=NOBODY) as agent:
        agent.tell = tell
        await listens(agent)
        first, port = agent.pid, agent.port
        agent.kill()
        async with asyncio.timeout(30):
            await goes_on.wait()
        await listens(agent)
        second = agent.pid

        assert (agent.deaths, agent.port, second != first) == (1, port, True)
        assert told == [
            f"the agent's process {first} is killed",
            f"the agent's process {second} goes on",
        ]
    with pytest.raises(ProcessLookupError):
        os.kill(second, signal.SIGCONT)
    assert sqlite3.connect(folder / "sessions.db").execute("PRAGMA user_version").fetchone()
    assert folder.stat().st_mode & 0o077 == 0


async def test_a_key_that_is_missing_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(AgentDown) as down:
        async with RuntimeAgent("anthropic:claude-sonnet-4-5", folder=tmp_path):
            pass

    assert str(down.value) == (
        "anthropic:claude-sonnet-4-5 needs a key: set ANTHROPIC_API_KEY in the environment."
    )


async def test_what_the_runtime_refuses_it_says_itself(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(AgentDown, match=r"ended at once \(exit 2\)"):
        async with RuntimeAgent("nobody:x", folder=tmp_path):
            pass
    assert "nobody" in capfd.readouterr().err


def test_sessions_stay_in_the_state_folder_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert state_folder() == Path("/somewhere/turnwire-lab")
    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_folder() == Path.home() / ".local" / "state" / "turnwire-lab"
