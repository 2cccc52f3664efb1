import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from runtime.cli.command import run
from runtime.cli.kept_session import SECRET, TURN, keep
from turnwire_agent.journal.port import Row

Captured = pytest.CaptureFixture[str]
KEPT = ("--journal", "sqlite:kept.db", "--session", "s1")


@pytest.fixture(autouse=True)
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file of an agent with a tool that has a secret argument, in the folder of its journal."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "agent.toml"
    path.write_text('tools = ["runtime.cli.offered:cancel"]\njournal = "sqlite:kept.db"\n')
    return str(path)


async def test_the_frames_of_a_session(agent: str, capsys: Captured) -> None:
    await keep(Path("kept.db"))

    assert await run("replay", agent, "--session", "s1") == 0
    out = capsys.readouterr().out
    frames = [json.loads(line) for line in out.splitlines()]

    assert SECRET not in out
    assert frames[0]["type"] == "message.create"
    assert {"type": "message.part.text-delta", "turnId": "t1", "delta": "I have "} in frames
    assert any(frame.get("args") == {"order": "o7", "password": "(hidden)"} for frame in frames)
    assert frames[-1] == {"type": "complete", "turnId": "t1", "promptId": "p1"}


async def test_the_gateway_makes_a_stream_of_them(capsys: Captured) -> None:
    await keep(Path("kept.db"))
    await run("replay", *KEPT)
    frames = capsys.readouterr().out

    command = (sys.executable, "-m", "turnwire", "replay", "--prompt-id", "p1", "-")
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    out, _ = await process.communicate(frames.encode())
    assert b'"delta":"I have ' in out
    assert b'"output":"It is done."' in out
    assert out.endswith(b"data: [DONE]\n\n")


async def test_where_a_session_stands(agent: str, capsys: Captured) -> None:
    await keep(Path("kept.db"), TURN[:-3])

    assert await run("replay", agent, "--session", "s1", "--init") == 0
    (init,) = capsys.readouterr().out.splitlines()
    assert SECRET not in init
    assert json.loads(init)["type"] == "init"
    assert json.loads(init)["data"]["runningTurnId"] == "t1"


async def test_without_an_agent_no_argument_is_shown(capsys: Captured) -> None:
    await keep(Path("kept.db"))

    assert await run("replay", *KEPT) == 0
    out = capsys.readouterr().out
    assert '"args":{"order":"(hidden)","password":"(hidden)"}' in out
    assert SECRET not in out


async def test_a_terminal_obeys_nothing_of_it(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(Path("kept.db"))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    assert await run("replay", *KEPT) == 0
    assert "\x1b" not in capsys.readouterr().out


async def test_a_session_of_a_newer_program_is_refused(capsys: Captured) -> None:
    await keep(Path("kept.db"), (), Row("flown.7", b""))

    assert await run("replay", *KEPT) == 1
    assert "'flown.7'" in capsys.readouterr().err


async def test_no_such_session_is_one_line(capsys: Captured) -> None:
    await keep(Path("kept.db"))

    assert await run("replay", *KEPT[:2], "--session", "s9") == 1
    assert capsys.readouterr().err == "turnwire-agent replay: there is no such session\n"
