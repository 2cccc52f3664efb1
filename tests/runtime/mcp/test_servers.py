"""A snapshot holds the tools of all servers, beside the agent's own, for one turn."""

import asyncio
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime.mcp.stage import CONTEXT, TEXT, FakeServer, tool_of, until
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import BadServerError, Program, Server
from turnwire_agent.tools.contract import TOOLS_MAX, Tool
from turnwire_agent.tools.functions import tool
from turnwire_agent.tools.names import wire_name

READ: dict[str, Any] = {"name": "read", "inputSchema": TEXT}


def server(name: str, **settings: Any) -> Server:
    return Server(name=name, place=Program(command="server"), **settings)


@tool
def own(text: str) -> str:
    return text


async def test_a_snapshot_has_the_tools_of_all_and_those_beside_them() -> None:
    fake = FakeServer([READ])
    async with McpServers([server("a"), server("b")], connect=fake) as servers:
        snapshot = await servers.snapshot(beside=[own])

        assert [each.name for each in snapshot.tools] == ["own", "a.read", "b.read"]
        assert snapshot.problems == ()
        assert await tool_of(snapshot.tools, "b.read").call({}, CONTEXT) == "done"


async def test_a_snapshot_does_not_change_and_the_next_one_does() -> None:
    fake = FakeServer([READ])
    async with McpServers([server("a")], connect=fake) as servers:
        before = await servers.snapshot()
        fake.tools = [{**READ, "description": "Reads all."}]
        assert fake.session
        fake.session.news = True

        after = await servers.snapshot()

    old, new = tool_of(before.tools, "a.read"), tool_of(after.tools, "a.read")
    assert (old.description, new.description) == ("", "Reads all.")
    assert old.digest != new.digest


async def test_a_server_that_is_not_there_is_a_problem_of_the_snapshot() -> None:
    async with McpServers([server("a")], connect=FakeServer(reachable=False)) as servers:
        snapshot = await servers.snapshot(beside=[own])

    assert [each.name for each in snapshot.tools] == ["own"]
    assert [(each.server, each.why) for each in snapshot.problems] == [
        ("a", "the server is not connected: nobody is there")
    ]


async def test_a_server_takes_no_name_of_another_tool_on_any_wire() -> None:
    """`a.read` goes to a provider as a slug with a digest, which another tool may be called."""

    def named(name: str) -> Tool:
        return tool(name=name, description="", schema=TEXT)(lambda value: value)

    taken = named(wire_name("a.read", "chat"))
    async with McpServers([server("a"), server("b")], connect=FakeServer([READ])) as servers:
        snapshot = await servers.snapshot(beside=[taken, named("b.read")])

    assert [each.name for each in snapshot.tools] == [taken.name, "b.read"]
    assert [(each.tool, each.why) for each in snapshot.problems] == [
        ("a.read", "another tool has its name"),
        ("b.read", "another tool has its name"),
    ]


async def test_there_are_so_many_tools_at_most() -> None:
    schema: dict[str, Any] = {"type": "object"}
    many = [tool(name=f"t{n}", schema=schema)(lambda value: value) for n in range(TOOLS_MAX)]
    async with McpServers([server("a")], connect=FakeServer([READ])) as servers:
        snapshot = await servers.snapshot(beside=many)

    assert len(snapshot.tools) == TOOLS_MAX
    assert [each.why for each in snapshot.problems] == ["too many tools"]


async def test_a_tool_is_called_in_the_loop_of_its_server_from_any_loop() -> None:
    """Tools run in a loop of their own, so that they stop nobody."""
    fake = FakeServer([READ])
    async with McpServers([server("a")], connect=fake) as servers:
        read = tool_of((await servers.snapshot()).tools, "a.read")
        with ThreadPoolExecutor() as threads:
            here = asyncio.get_running_loop()
            called = here.run_in_executor(threads, lambda: asyncio.run(read.call({}, CONTEXT)))
            assert await called == "done"

        assert fake.session
        assert fake.session.loops == [here]


async def test_closing_disconnects() -> None:
    fake = FakeServer([READ])
    async with McpServers([server("a")], connect=fake) as servers:
        await servers.snapshot()
        assert fake.connected.is_set()

    await until(lambda: not fake.connected.is_set())


async def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadServerError, match="two MCP servers are called 'a'"):
        McpServers([server("a"), server("a")], connect=FakeServer())
    with pytest.raises(BadServerError, match="more than 50"):
        McpServers([server(f"s{n}") for n in range(51)], connect=FakeServer())


WITHOUT = """
import sys
sys.modules["mcp"] = None
from turnwire_agent.mcp.errors import MissingLibraryError
from turnwire_agent.mcp.servers import McpServers
import turnwire_agent.mcp.settings
assert not {"mcp_types", "pydantic", "httpx2"} & set(sys.modules)
try:
    McpServers([])
except MissingLibraryError as exc:
    print(exc)
"""


def test_without_the_extra_one_line_says_so() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )

    assert ran.stderr == ""
    assert ran.stdout == "MCP servers need pip install 'turnwire-agent[mcp]'\n"
