"""The newest version of the protocol: changes are told to those that ask, questions are results."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.mcp.stage import called
from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import Program, Server
from turnwire_agent.tools.contract import ToolFailed

pytestmark = pytest.mark.sockets
PROGRAM = Program(
    command=sys.executable, arguments=[str(Path(__file__).parent / "modern_server.py")]
)


@pytest.fixture
async def servers() -> AsyncIterator[McpServers]:
    async with McpServers([Server(name="new", place=PROGRAM)]) as servers:
        yield servers


async def test_a_change_is_seen_by_the_next_snapshot(servers: McpServers) -> None:
    before = await servers.snapshot()
    assert [tool.name for tool in before.tools] == ["new.grow", "new.ask"]

    assert await called(before.tools, "new.grow") == {"result": "grown"}
    after = await servers.snapshot()

    assert [tool.name for tool in after.tools] == ["new.grow", "new.ask", "new.added"]


async def test_a_tool_that_asks_for_more_fails_by_name(servers: McpServers) -> None:
    tools = (await servers.snapshot()).tools

    with pytest.raises(ToolFailed, match="The tool asks for more input, which nobody can give"):
        await called(tools, "new.ask")
