"""`turnwire bridge` as a process: its token, what it prints, its exit codes."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from gateway.process import command
from gateway.waiting import PATIENCE_S
from turnwire.cli import main
from turnwire.cli.bridge import PORT
from turnwire_lab.process import free_port, inherited

pytestmark = pytest.mark.sockets

DOCS = Path(__file__).parents[2] / "docs"
TOKEN = "a-token-of-the-bridge"


@asynccontextmanager
async def bridge(**environ: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "turnwire", "bridge", "--port", "0", "--", "cat"),
        env=inherited() | environ,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(PATIENCE_S):
        printed = "".join([(await process.stdout.readline()).decode() for _ in range(2)])
        try:
            yield process, printed
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGINT)
            await process.wait()


async def answer(url: str, token: str) -> str | bytes:
    headers = {"authorization": f"Bearer {token}"}
    async with connect(url, additional_headers=headers, proxy=None) as connection:
        await connection.send("hello")
        return await connection.recv()


def setting(printed: str, name: str) -> str:
    found = re.search(rf"TURNWIRE_{name}='?([^' \n]+)", printed)
    assert found is not None, printed
    return found[1]


async def test_without_a_token_one_is_made_and_printed_with_the_gateways_settings() -> None:
    async with bridge() as (process, printed):
        url, token = setting(printed, "AGENT_URL"), setting(printed, "AGENT_TOKEN")
        assert setting(printed, "AGENT_AUTH") == "service"
        assert url.endswith("/?session={session_id}")
        assert await answer(url.format(session_id="s1"), token) == "hello"
        process.send_signal(signal.SIGTERM)
        _, errors = await process.communicate()

    assert process.returncode == 0
    told = [line.split()[-1] for line in errors.decode().splitlines()]
    assert told == ["began", "ended"]
    assert token not in errors.decode()


@pytest.mark.parametrize("by", ["variable", "file"])
async def test_a_token_of_the_environment_counts_and_is_not_printed(
    by: str, tmp_path: Path
) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN + "\n")
    name, value = {"variable": ("", TOKEN), "file": ("_FILE", str(file))}[by]
    async with bridge(**{f"TURNWIRE_AGENT_TOKEN{name}": value}) as (_, printed):
        url = setting(printed, "AGENT_URL").format(session_id="s1")
        assert "TOKEN" not in printed
        assert await answer(url, TOKEN) == "hello"
        with pytest.raises(InvalidStatus):
            await answer(url, "another-token-than-it")


@pytest.mark.parametrize(
    ("environ", "problem"),
    [
        ({"TURNWIRE_AGENT_TOKEN": "short"}, "TURNWIRE_AGENT_TOKEN: a token has 16 characters or"),
        ({"TURNWIRE_AGENT_TOKEN": ""}, "TURNWIRE_AGENT_TOKEN: a token has 16 characters or"),
        ({"TURNWIRE_AGENT_TOKEN_FILE": "/nowhere"}, "TURNWIRE_AGENT_TOKEN_FILE: cannot be read"),
    ],
)
async def test_a_token_that_is_none_is_refused(environ: dict[str, str], problem: str) -> None:
    code, out, errors = await command("bridge", "--", "cat", env=inherited() | environ)
    assert (code, out) == (1, "")
    assert errors.startswith(f"turnwire: {problem}")


async def test_a_command_that_is_none_is_refused() -> None:
    code, out, errors = await command("bridge", "--", "no-such-agent", "acp", env=inherited())
    assert (code, out, errors) == (1, "", "turnwire: no-such-agent: no such command\n")


def test_its_port_is_no_other_ones_of_the_docs() -> None:
    assert f"ws://127.0.0.1:{PORT}/?session={{session_id}}" in (DOCS / "bridge.md").read_text()
    for page in (DOCS.parent / "README.md", DOCS / "v2.md"):
        assert str(PORT) not in page.read_text()


async def test_a_port_in_use_is_refused() -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", port := free_port())
    async with server:
        code, _, errors = await command("bridge", "--port", str(port), "--", "cat", env=inherited())
    assert (code, errors) == (
        1,
        f"turnwire: cannot listen on 127.0.0.1, port {port}: {os.strerror(98)}\n",
    )


@pytest.mark.parametrize(
    "arguments",
    [[], ["--port", "65536", "--", "cat"], ["--connections", "0", "--", "cat"]],
)
def test_a_wrong_command_line_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main(["bridge", *arguments])
    assert refused.value.code == 2
    assert "turnwire bridge" in capsys.readouterr().err
