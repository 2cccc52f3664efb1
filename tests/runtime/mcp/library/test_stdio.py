"""A server that is a program: its environment, its lines, its end."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from runtime.mcp.stage import Faulty, called, tool_of, until
from turnwire_agent.mcp.library import stdio
from turnwire_agent.mcp.library.stdio import environment
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import Bounds, Program, Server
from turnwire_agent.tools.contract import ToolFailed

pytestmark = pytest.mark.sockets


@pytest.fixture
def faulty(tmp_path: Path) -> Faulty:
    return Faulty(tmp_path)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_program_gets_plain_variables_and_those_that_are_named() -> None:
    own = {"PATH": "/bin", "ANTHROPIC_API_KEY": "canary", "TOKEN": "named", "OTHER": "canary"}
    program = Program(command="server", variables={"MODE": "x"}, inherited=["TOKEN", "MISSING"])

    assert environment(program, own) == {"PATH": "/bin", "TOKEN": "named", "MODE": "x"}


async def test_a_running_program_has_no_secret_of_this_process(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary")
    monkeypatch.setenv("FILES_TOKEN", "for the server")
    place = {"inherited": ["FILES_TOKEN"], "variables": {"MODE": "test"}}
    async with McpServers([faulty.server(place=place)]) as servers:
        seen = json.loads(await called((await servers.snapshot()).tools, "faulty.env"))

    assert (seen["FILES_TOKEN"], seen["MODE"]) == ("for the server", "test")
    assert "canary" not in str(seen)


async def test_a_line_that_is_no_json_is_passed_over(faulty: Faulty) -> None:
    """The faulty server begins with one, for people."""
    async with McpServers([faulty.server()]) as servers:
        assert await called((await servers.snapshot()).tools, "faulty.echo", text="ä") == (
            '{"text": "\\u00e4"}'
        )


async def test_a_line_that_is_too_long_ends_the_connection(faulty: Faulty) -> None:
    settings = {"bounds": Bounds(message_bytes=50_000)}
    async with McpServers([faulty.server(settings=settings)], backoff_s=0.01) as servers:
        tools = (await servers.snapshot()).tools
        assert len(await called(tools, "faulty.long", text="40000")) == 40_000

        with pytest.raises(ToolFailed, match="The server 'faulty' of this tool is gone"):
            await called(tools, "faulty.long", text="60000")
        await until(lambda: len(faulty.asked("initialize")) == 2)


async def test_a_program_ends_when_its_servers_are_closed(faulty: Faulty) -> None:
    async with McpServers([faulty.server()]) as servers:
        await servers.snapshot()
        (pid,) = faulty.pids()
        assert alive(pid)

    assert not alive(pid)


async def test_a_program_that_does_not_end_is_killed(
    faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "EXIT_S", 0.2)
    async with McpServers([faulty.server(stubborn=True)]) as servers:
        await servers.snapshot()
        (pid,) = faulty.pids()

    assert not alive(pid)


async def test_a_program_that_does_not_answer_ends_when_its_time_is_over(faulty: Faulty) -> None:
    server = faulty.server(deaf=True, settings={"connect_s": 0.7})
    async with McpServers([server], backoff_s=60) as servers:
        (problem,) = (await servers.snapshot()).problems
        (pid,) = faulty.pids()
        assert "it did not answer in time" in problem.why
        assert not alive(pid)


async def test_a_program_that_is_not_there_is_a_problem() -> None:
    place = Program(command="/no/such/program", variables={"KEY": "canary"})
    async with McpServers([Server(name="none", place=place)]) as servers:
        (problem,) = (await servers.snapshot()).problems

    assert problem.why == (
        "the server is not connected: its program cannot be started: No such file or directory"
    )


async def test_cancelling_closes_the_program_too(faulty: Faulty) -> None:
    async def hold() -> None:
        async with McpServers([faulty.server()]) as servers:
            await servers.snapshot()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await until(lambda: faulty.asked("tools/list"))
    (pid,) = faulty.pids()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert not alive(pid)


async def test_stderr_is_shown_only_where_somebody_wants_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    del tmp_path
    words = "import sys; sys.stderr.write('for people')"
    for shows in (False, True):
        place = Program(command="python3", arguments=["-c", words], shows_errors=shows)
        async with McpServers([Server(name="loud", place=place)], backoff_s=60) as servers:
            await servers.snapshot()

        assert capfd.readouterr().err == ("for people" if shows else "")


async def test_a_server_that_dies_in_a_call_comes_back_for_later_turns(faulty: Faulty) -> None:
    async with McpServers([faulty.server()], backoff_s=0.01) as servers:
        tools = (await servers.snapshot()).tools

        with pytest.raises(ToolFailed, match="The server 'faulty' of this tool is gone"):
            await called(tools, "faulty.die")
        await until(lambda: len(faulty.asked("tools/list")) == 2)
        with pytest.raises(ToolFailed, match="is not connected"):
            await called(tools, "faulty.echo")
        later: list[Any] = []
        while not later:
            snapshot = await servers.snapshot()
            if not snapshot.problems:
                later.append(await called(snapshot.tools, "faulty.echo"))

    assert later == ["{}"]
    assert tool_of(tools, "faulty.echo").digest == tool_of(snapshot.tools, "faulty.echo").digest
