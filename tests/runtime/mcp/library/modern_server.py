"""A server of the library itself, in the newest version of the protocol."""

from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import InputRequiredResult

server = MCPServer("modern")


@server.tool()
async def grow(ctx: Context[Any]) -> str:
    """Add a tool."""
    server.add_tool(lambda: "new", name="added", description="New.")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def ask() -> str | InputRequiredResult:
    """Ask a person first."""
    return InputRequiredResult(request_state="waiting")


server.run("stdio")
