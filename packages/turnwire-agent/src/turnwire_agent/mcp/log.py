"""Lines in the log: fixed words, names of servers and tools, kinds of faults.

What a server sends, and what it is sent, is nobody's business: it is in `DEBUG` lines alone.
"""

import logging
from typing import Final

LOGGER: Final = logging.getLogger("turnwire_agent.mcp")


def connected(server: str, tools: int) -> None:
    """A server is there, with so many tools."""
    LOGGER.info("mcp: server=%s connected tools=%d", server, tools)


def gone(server: str, why: str, retry_s: float) -> None:
    """A server is not there, or not any more."""
    LOGGER.warning("mcp: server=%s gone: %s; next attempt in %.1f s", server, why, retry_s)


def left_out(server: str, tool: str, why: str) -> None:
    """A tool of a server is none of ours."""
    LOGGER.warning("mcp: server=%s tool=%a left out: %s", server, tool[:80], why)


def not_listed(server: str, why: str) -> None:
    """A server does not say which tools it has."""
    LOGGER.warning("mcp: server=%s tools not listed: %s", server, why)


def failed(tool: str, kind: str, details: str) -> None:
    """A call had no result. The details are the server's own words."""
    LOGGER.warning("mcp: tool=%a no result: %s", tool[:80], kind)
    LOGGER.debug("mcp: tool=%a details: %a", tool[:80], details[:1000])
