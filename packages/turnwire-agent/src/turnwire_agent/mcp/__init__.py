"""Tools of MCP servers. Only `library` needs the extra `mcp`."""
