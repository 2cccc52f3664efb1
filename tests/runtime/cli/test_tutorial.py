"""docs/agent-tutorial.md is done word for word, in one shell, with a model that is scripted.

The ports are others than on the page, and the model is on this machine: a key is all that the
commands lack for a real one.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import socket
import sys
from asyncio.subprocess import PIPE, STDOUT
from pathlib import Path
from typing import Final

import pytest

from runtime.llm.messages_events import BEGIN, STOP, call, ended, text
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends
from runtime.llm.streams import sse

pytestmark = pytest.mark.sockets
ROOT: Final = Path(__file__).parents[3]
EXAMPLE: Final = ROOT / "examples/tutorial/agent.py"
PAGE: Final = (ROOT / "docs/agent-tutorial.md").read_text()
BLOCKS: Final = re.findall(r"<!-- run: (.+?) -->\n```sh\n(.*?)```", PAGE, re.DOTALL)
BIN: Final = Path(sys.executable).parent
KEY: Final = "canary-key-0123456789"
BLOCK_S: Final = 30.0
LINES_MAX: Final = 40

ASKS: Final = sse(
    BEGIN,
    *text(0, "I have to ask."),
    *call(1, "c1", "refund", '{"order_id": "o7", ', '"amount": 40}'),
    ended("tool_use"),
    STOP,
    named=True,
)
TELLS: Final = sse(BEGIN, *text(0, "40 were paid back."), ended("end_turn"), STOP, named=True)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def command(folder: Path, name: str, script: str) -> None:
    """Put a command in front of the one of that name."""
    path = folder / name
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


class Shell:
    """A shell that commands are pasted into."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._pasted = 0
        self.shown = ""

    async def paste(self, commands: str, expected: str) -> None:
        """Wait until all of it was run and the expected text is there."""
        assert self._process.stdin
        self._pasted += 1
        done = f"-- {self._pasted} --"
        self._process.stdin.write(f"{commands}\necho '{done}'\n".encode())
        start = len(self.shown)
        try:
            async with asyncio.timeout(BLOCK_S):
                while not (done in self.shown[start:] and expected in self.shown[start:]):
                    await self._read()
        except TimeoutError:
            pytest.fail(f"no {expected!r} in\n{self.shown[start:]}")

    async def _read(self) -> None:
        assert self._process.stdout
        read = await self._process.stdout.read(65536)
        assert read, self.shown
        self.shown += read.decode()


async def test_the_page_is_done_word_for_word(tmp_path: Path) -> None:
    shutil.copy(EXAMPLE, tmp_path)
    commands = tmp_path / "commands"
    commands.mkdir()
    agent_port, gateway_port = free_port(), free_port()
    async with ScriptedServer([sends(STREAM_HEAD + ASKS), sends(STREAM_HEAD + TELLS)]) as model:
        real = shlex.quote(str(BIN / "turnwire-agent"))
        flags = f"--listen 127.0.0.1:{agent_port} --host-lease-s 2"
        flags += f" --base-url {model.url} --key-variable ANTHROPIC_API_KEY"
        command(commands, "pip", 'echo "installed: $@"')
        command(
            commands,
            "turnwire-agent",
            f'if [ "$1" = serve ]; then exec {real} "$@" {flags}; fi\nexec {real} "$@"',
        )
        environ = {
            "PATH": f"{commands}:{BIN}:{os.environ['PATH']}",
            "ANTHROPIC_API_KEY": KEY,
            "TURNWIRE_PORT": str(gateway_port),
            "TURNWIRE_METRICS_PORT": "0",
        }
        process = await asyncio.create_subprocess_exec(
            *("bash", "--noprofile", "--norc", "-o", "pipefail"),
            cwd=tmp_path,
            env=environ,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
        )
        shell = Shell(process)
        try:
            for expected, block in BLOCKS:
                pasted = block.replace("8765", str(agent_port)).replace("8787", str(gateway_port))
                await shell.paste(pasted, expected)
        finally:
            assert process.stdin
            process.stdin.write(b"kill -9 $(jobs -p) 2>/dev/null\nexit\n")
            process.stdin.close()
            await process.wait()

    first, second = (json.loads(asked.body)["messages"] for asked in model.asked)
    assert [message["role"] for message in first] == ["user"]
    assert second[-1]["content"][0]["content"] == "40 were paid back for o7."
    assert KEY not in shell.shown


def test_it_names_the_packages_of_this_repository() -> None:
    (installed,) = re.findall(r"^pip install (.*)$", PAGE, re.MULTILINE)
    named = {
        re.search(r'^name = "(.*)"', (ROOT / path).read_text(), re.MULTILINE)[1]  # type: ignore[index]
        for path in ("pyproject.toml", "packages/turnwire-agent/pyproject.toml")
    }

    assert set(installed.split()) == named


def test_every_command_of_the_page_is_run() -> None:
    assert PAGE.count("```sh\n") == len(BLOCKS)


def test_the_agent_is_as_long_as_the_page_says() -> None:
    assert len([line for line in EXAMPLE.read_text().splitlines() if line]) <= LINES_MAX
