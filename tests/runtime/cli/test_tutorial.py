"""docs/agent-tutorial.md is done word for word, in one shell, with a model that is scripted.

The ports are others than on the page. Without a key the page's own script plays the model. With
one, flags lead to a server of this test: they are all that differs from a real provider.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from asyncio.subprocess import PIPE, STDOUT
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from runtime.llm.messages_events import BEGIN, STOP, call, ended, text
from runtime.llm.scripted_server import STREAM_HEAD, ScriptedServer, sends
from runtime.llm.streams import sse
from turnwire_lab.process import free_port

pytestmark = pytest.mark.sockets
ROOT: Final = Path(__file__).parents[3]
EXAMPLE: Final = ROOT / "examples/tutorial/agent.py"
PAGE: Final = (ROOT / "docs/agent-tutorial.md").read_text()
BLOCK: Final = re.compile(r"<!-- run: (.+?) -->\n```sh\n(.*?)```", re.DOTALL)
BLOCKS: Final = BLOCK.findall(PAGE)
(KEYLESS,) = BLOCK.findall(PAGE.partition("## Without a key\n")[2].partition("\n## ")[0])
INSTALLED: Final = re.findall(r"^pip install (.*)$", PAGE, re.MULTILINE)[0].split()
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


def put_commands(folder: Path, flags: str) -> None:
    """Put `pip`, `python3` and `turnwire-agent` in front of the real ones.

    `pip` names the project in each folder, and fails if there is none. `python3` makes no
    environment. `turnwire-agent serve` gets the flags.
    """
    folder.mkdir()
    command(
        folder,
        "pip",
        """shift\nfor each; do
  grep -m1 '^name = ' "$each/pyproject.toml" | sed 's/name = "\\(.*\\)"/installed \\1/' || exit 1
done""",
    )
    command(
        folder,
        "python3",
        f"""if [ "$1 $2" = "-m venv" ]; then mkdir -p "$3/bin" && touch "$3/bin/activate"; exit; fi
exec {shlex.quote(sys.executable)} "$@\"""",
    )
    real = shlex.quote(str(BIN / "turnwire-agent"))
    command(
        folder,
        "turnwire-agent",
        f'if [ "$1" = serve ]; then exec {real} "$@" {flags}; fi\nexec {real} "$@"',
    )


@pytest.mark.parametrize("has_key", [True, False], ids=["key", "no-key"])
async def test_the_page_is_done_word_for_word(tmp_path: Path, *, has_key: bool) -> None:
    shutil.copy(EXAMPLE, tmp_path)
    (tmp_path / "turnwire").symlink_to(ROOT)
    ports = {name: str(free_port()) for name in ("8765", "8787", "18080")}
    flags = f"--listen 127.0.0.1:{ports['8765']} --host-lease-s 2"
    environ = {"TURNWIRE_PORT": ports["8787"], "TURNWIRE_METRICS_PORT": "0"}
    async with AsyncExitStack() as stack:
        if has_key:
            scripts = [sends(STREAM_HEAD + ASKS), sends(STREAM_HEAD + TELLS)]
            model = await stack.enter_async_context(ScriptedServer(scripts))
            flags += f" --base-url {model.url} --key-variable ANTHROPIC_API_KEY"
            environ["ANTHROPIC_API_KEY"] = KEY
        commands = tmp_path / "commands"
        put_commands(commands, flags)
        process = await asyncio.create_subprocess_exec(
            *("bash", "--noprofile", "--norc", "-o", "pipefail"),
            cwd=tmp_path,
            env=environ | {"PATH": f"{commands}:{BIN}:{os.environ['PATH']}"},
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
        )
        shell = Shell(process)
        try:
            for expected, block in BLOCKS:
                if has_key and (expected, block) == KEYLESS:
                    continue
                await shell.paste(
                    re.sub("|".join(ports), lambda port: ports[port[0]], block), expected
                )
        finally:
            assert process.stdin
            process.stdin.write(b"kill -9 $(jobs -p) 2>/dev/null\nexit\n")
            process.stdin.close()
            await process.wait()

    if has_key:
        first, second = (json.loads(asked.body)["messages"] for asked in model.asked)
        assert [message["role"] for message in first] == ["user"]
        assert second[-1]["content"][0]["content"] == "40 were paid back for o7."
        assert KEY not in shell.shown


async def test_the_script_answers_as_the_page_about_models_shows() -> None:
    page = (ROOT / "docs/models.md").read_text()
    ((expected, block),) = BLOCK.findall(page)
    process = await asyncio.create_subprocess_exec(
        *("bash", "--noprofile", "--norc", "-c", block.replace("18080", str(free_port()))),
        cwd=ROOT,
        env={"PATH": f"{BIN}:{os.environ['PATH']}"},
        stdout=PIPE,
        stderr=PIPE,
    )
    shown, wire = await asyncio.wait_for(process.communicate(), BLOCK_S)

    assert expected in shown.decode()
    assert b"POST /v1/chat/completions" in shown + wire


def project(folder: Path) -> Any:
    """The `project` table of a folder's pyproject.toml."""
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def test_what_it_installs_are_folders_of_the_clone_with_the_commands_of_the_page() -> None:
    projects = [project(ROOT.joinpath(*Path(each).parts[1:])) for each in INSTALLED]

    assert {Path(each).parts[0] for each in INSTALLED} == {"turnwire"}
    assert all(each.startswith("./") for each in INSTALLED)  # else pip asks an index
    assert [each["name"] for each in projects] == ["turnwire", "turnwire-agent"]
    assert [name for each in projects for name in each["scripts"]] == ["turnwire", "turnwire-agent"]


def test_every_command_of_the_page_is_run() -> None:
    assert PAGE.count("```sh\n") == len(BLOCKS)


def test_without_a_key_the_flags_are_those_that_other_pages_name() -> None:
    (flags,) = re.findall(r"^set -- (.*)$", KEYLESS[1], re.MULTILINE)

    for page in ("docs/agent.md", "docs/models.md"):
        assert flags in (ROOT / page).read_text(), page


def test_the_agent_is_as_long_as_the_page_says() -> None:
    assert len([line for line in EXAMPLE.read_text().splitlines() if line]) <= LINES_MAX
