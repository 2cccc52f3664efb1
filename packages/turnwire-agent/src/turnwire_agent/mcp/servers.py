"""The MCP servers of an agent, and the tools that they have at one moment."""

import asyncio
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import TracebackType
from typing import Final, Self, cast

from msgspec import Struct

from turnwire_agent.mcp.errors import MissingLibraryError
from turnwire_agent.mcp.listing import Offered, Problem
from turnwire_agent.mcp.port import Connect
from turnwire_agent.mcp.remote import BACKOFF_S, RemoteServer
from turnwire_agent.mcp.settings import SERVERS_MAX, BadServerError, Server
from turnwire_agent.tools.contract import TOOLS_MAX, Tool, Tools
from turnwire_agent.tools.names import NAME_RULES, wire_name

CLOSE_S: Final = 10.0
"""Longest time that servers get to end. Programs are killed before."""

_LIBRARY: Final = "turnwire_agent.mcp.library.session"


class Snapshot(Struct, frozen=True):
    """Tools of one moment. A turn holds one: its tools do not change before its end."""

    tools: Tools
    problems: tuple[Problem, ...] = ()
    """Servers and tools that are not there."""


class McpServers:
    """The servers of one agent, in one event loop, for as long as the context lasts.

        async with McpServers([Server(name="files", place=Program(command="files"))]) as servers:
            snapshot = await servers.snapshot(beside=own_tools)

    Entering starts to connect them, and does not wait: a server that is not there holds nobody up.

    Raises:
        BadServerError: two servers have one name, or there are too many.
        MissingLibraryError: the extra `mcp` is not installed.
    """

    def __init__(
        self,
        servers: Sequence[Server],
        *,
        connect: Connect | None = None,
        backoff_s: float = BACKOFF_S,
    ) -> None:
        names = [server.name for server in servers]
        for name in names:
            if names.count(name) > 1:
                raise BadServerError(f"two MCP servers are called {name!r}")
        if len(names) > SERVERS_MAX:
            raise BadServerError(f"more than {SERVERS_MAX} MCP servers")
        connect = connect or _connect()
        self._remotes = [RemoteServer(server, connect, backoff_s) for server in servers]
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(remote.run(), name=f"mcp {remote.server.name}")
            for remote in self._remotes
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Disconnect all servers, and end those that are programs."""
        for remote in self._remotes:
            remote.stop()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=CLOSE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def snapshot(self, beside: Iterable[Tool] = ()) -> Snapshot:
        """Return the tools as they are now, for the turn that begins.

        It waits for servers that were not tried yet, and asks those that said that their tools
        changed: at most `connect_s` of each server, side by side.

        Args:
            beside: Tools of the agent's own. One of a server that has the name of one of them, on
                any wire, is left out.
        """
        offers = await asyncio.gather(*(self._offer(remote) for remote in self._remotes))
        tools, problems = list(beside), list[Problem]()
        taken = {wire for tool in tools for wire in _wires(tool)}
        for remote, offered in zip(self._remotes, offers, strict=True):
            problems += offered.problems
            for tool in offered.tools:
                wires = _wires(tool)
                if taken & wires or len(tools) >= TOOLS_MAX:
                    why = "another tool has its name" if taken & wires else "too many tools"
                    problems.append(Problem(remote.server.name, tool.name, why))
                    continue
                taken |= wires
                tools.append(tool)
        return Snapshot(Tools(tools), tuple(problems))

    async def _offer(self, remote: RemoteServer) -> Offered:
        await remote.tried()
        return await remote.offer()


def _wires(tool: Tool) -> set[tuple[str, str]]:
    return {(shape, wire_name(tool.name, shape)) for shape in NAME_RULES}


def _connect() -> Connect:
    """The library's, which is imported where somebody has a server."""
    try:
        return cast(Connect, import_module(_LIBRARY).connect)
    except ModuleNotFoundError as exc:
        if (exc.name or "").startswith("turnwire_agent"):
            raise
        raise MissingLibraryError from None
