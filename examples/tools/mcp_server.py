"""The tools of an MCP server."""

import asyncio
import os

from turnwire_agent.mcp.servers import McpServers
from turnwire_agent.mcp.settings import Program, Server

SHOP = Server(
    name="shop",
    place=Program(
        command=os.environ.get("SHOP_COMMAND", "shop-mcp"),
        arguments=os.environ.get("SHOP_ARGUMENTS", "stdio").split(),
        inherited=["SHOP_TOKEN"],
    ),
    trusted=True,
)


async def main() -> None:
    async with McpServers([SHOP]) as servers:
        snapshot = await servers.snapshot()
        for problem in snapshot.problems:
            print(f"{problem.server}: {problem.why}")
        for tool in snapshot.tools:
            print(f"{tool.name} ({tool.effect.value}): {tool.description}")


asyncio.run(main())
