"""One server: connected as long as it is there, and again when it is back."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from turnwire_agent.home_loop import HomeLoop
from turnwire_agent.mcp import log
from turnwire_agent.mcp.errors import GoneError, ProtocolError, QuestionError, SilentError
from turnwire_agent.mcp.listing import Call, Offered, Problem, offered
from turnwire_agent.mcp.port import Connect, Session
from turnwire_agent.mcp.settings import Server
from turnwire_agent.tools.contract import ToolFailed

BACKOFF_S: Final = 1.0
"""Wait before the second attempt to connect. It doubles with each, up to `BACKOFF_MAX_S`."""
BACKOFF_MAX_S: Final = 60.0
STEADY_S: Final = 30.0
"""A server that was connected for so long begins with the first wait again. One that dies as soon
as it is there does not."""


class McpResultError(Exception):
    """A call has no result, by no fault of the tool: the model hears generic words."""


class RemoteServer:
    """A server, for all sessions of one event loop.

    A task of its own connects it and keeps it: `run`, until `stop` or its cancellation.
    """

    def __init__(self, server: Server, connect: Connect, backoff_s: float = BACKOFF_S) -> None:
        self.server = server
        self._connect = connect
        self._backoff_s = backoff_s
        self._session: Session | None = None
        self._offered = Offered()
        self._listing = asyncio.Lock()
        self._stale = False
        self._stopped = asyncio.Event()
        self._tried = asyncio.Event()
        self._why = "it is not connected yet"

    async def run(self) -> None:
        """Connect, and connect again whenever the server is gone."""
        try:
            await self._keep_connected()
        finally:
            self._tried.set()  # nobody waits for a task that has ended

    async def _keep_connected(self) -> None:
        attempts = 0
        while not self._stopped.is_set():
            began = asyncio.get_running_loop().time()
            try:
                await self._serve()
            except GoneError as exc:
                self._why = str(exc)
            if self._stopped.is_set():
                return
            self._tried.set()
            lasted = asyncio.get_running_loop().time() - began
            attempts = 0 if lasted > STEADY_S else attempts
            wait = min(self._backoff_s * 2**attempts, BACKOFF_MAX_S)
            attempts = min(attempts + 1, 16)
            log.gone(self.server.name, self._why, wait)
            await self._rest(wait)

    def stop(self) -> None:
        """Let `run` disconnect the server, and end."""
        self._stopped.set()

    @property
    def connected(self) -> bool:
        """Whether it is there now."""
        return self._session is not None

    async def tried(self) -> None:
        """Wait until the server is connected and has listed its tools, or was not there."""
        await self._tried.wait()

    async def offer(self) -> Offered:
        """Return its tools as they are now.

        Those of a server that is gone stay, and fail by their names: who asks a model twice with
        the same tools asks it for less.
        """
        session = self._session
        if session is None:
            gone = Problem(self.server.name, "", f"the server is not connected: {self._why}")
            return Offered(self._offered.tools, (gone, *self._offered.problems))
        async with self._listing:
            if session.changed() or self._stale:
                problem = await self._list(session)
                self._stale = problem is not None
                if problem:
                    return Offered(self._offered.tools, (problem, *self._offered.problems))
        return self._offered

    async def _serve(self) -> None:
        """Be connected, until the server is gone or nobody wants it any more."""
        async with self._connect(self.server) as session:
            async with self._listing:
                problem = await self._list(session)
            if problem:
                raise GoneError(problem.why)
            self._session = session
            log.connected(self.server.name, len(self._offered.tools))
            self._tried.set()
            try:
                await self._until_stopped(session)
            finally:
                self._session = None
            self._why = "the connection ended"

    async def _list(self, session: Session) -> Problem | None:
        """Ask for the tools. If the server does not say, the old ones stay."""
        try:
            listed = await session.list_tools()
        except (GoneError, SilentError, ProtocolError) as exc:
            log.not_listed(self.server.name, str(exc))
            return Problem(self.server.name, "", f"its tools are not listed: {exc}")
        call = self._call_of(session)
        self._offered = await asyncio.to_thread(offered, self.server, listed.tools, call)
        for each in self._offered.problems:
            log.left_out(each.server, each.tool, each.why)
        return None

    def _call_of(self, session: Session) -> Call:
        """Call tools of this connection: one that comes later may have others of their names."""
        name, timeout_s, home = self.server.name, self.server.call_s, HomeLoop()

        async def call(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            return await home.run(call_here(tool, arguments))

        async def call_here(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
            if session is not self._session:
                raise ToolFailed(f"The server {name!r} of this tool is not connected.")
            try:
                return await session.call(tool, arguments, timeout_s)
            except GoneError as exc:
                raise ToolFailed(
                    f"The server {name!r} of this tool is gone. Whether the tool did its work is "
                    "not known."
                ) from exc
            except SilentError as exc:
                raise ToolFailed(f"The tool did not answer within {timeout_s:g} s.") from exc
            except QuestionError as exc:
                raise ToolFailed("The tool asks for more input, which nobody can give.") from exc
            except ProtocolError as exc:
                log.failed(f"{name}.{tool}", str(exc), exc.details)
                raise McpResultError(str(exc)) from exc

        return call

    async def _until_stopped(self, session: Session) -> None:
        waiting = [asyncio.create_task(each) for each in (session.gone(), self._stopped.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        except TimeoutError:
            return
