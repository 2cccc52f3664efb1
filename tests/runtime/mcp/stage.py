"""Servers for these tests: the faulty one over its pipes, and one that is no process at all."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from gateway.waiting import PATIENCE_S
from turnwire_agent.mcp.errors import GoneError
from turnwire_agent.mcp.port import Listed
from turnwire_agent.mcp.settings import Program, Server
from turnwire_agent.tools.contract import Context, Tool, Tools

FAULTY: Final = Path(__file__).parent / "faulty_server.py"
CONTEXT: Final = Context(call_id="c1", key="k1", deadline=0.0)
TEXT: Final = {"type": "object", "properties": {"text": {"type": "string"}}}


class Faulty:
    """The faulty server, and what it read."""

    def __init__(self, folder: Path) -> None:
        self.journal = folder / "journal"

    def server(self, *, place: Mapping[str, Any] = {}, **options: Any) -> Server:
        """Its settings. Those of `Server` come as `settings`."""
        settings = options.pop("settings", {})
        arguments = [str(FAULTY), str(self.journal), json.dumps(options)]
        program = Program(command=sys.executable, arguments=arguments, **place)
        return Server(name="faulty", place=program, **settings)

    def read(self) -> list[dict[str, Any]]:
        if not self.journal.exists():
            return []
        return [json.loads(line) for line in self.journal.read_text().splitlines()]

    def pids(self) -> list[int]:
        return [line["pid"] for line in self.read() if "pid" in line]

    def asked(self, method: str) -> list[dict[str, Any]]:
        return [line for line in self.read() if line.get("method") == method]


async def until(seen: Callable[[], object]) -> None:
    """Wait until something is so, in another task or in another process."""
    async with asyncio.timeout(PATIENCE_S):
        while not seen():  # noqa: ASYNC110 (nothing else tells of it)
            await asyncio.sleep(0.005)


def tool_of(tools: Tools, name: str) -> Tool:
    tool = tools.get(name)
    assert tool
    return tool


async def called(tools: Tools, name: str, **arguments: Any) -> Any:
    return await tool_of(tools, name).call(arguments, CONTEXT)


@dataclass
class FakeServer:
    """A server without a process: connects, dies and changes when a test says so."""

    tools: list[dict[str, Any]] = field(default_factory=list)
    reachable: bool = True
    raises: Exception | None = None
    """Instead of a listing, or of a result."""
    attempts: int = 0
    listings: int = 0
    session: "FakeSession | None" = None
    connected: asyncio.Event = field(default_factory=asyncio.Event)

    def __call__(self, server: Server) -> "FakeServer":
        del server
        return self

    async def __aenter__(self) -> "FakeSession":
        self.attempts += 1
        if not self.reachable:
            raise GoneError("nobody is there")
        self.session = FakeSession(self)
        self.connected.set()
        return self.session

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.connected.clear()

    def die(self) -> None:
        assert self.session
        self.session.ended.set()


class FakeSession:
    def __init__(self, server: FakeServer) -> None:
        self.server = server
        self.ended = asyncio.Event()
        self.news = False
        self.loops: list[asyncio.AbstractEventLoop] = []
        self.answer: Mapping[str, Any] = {"content": [{"type": "text", "text": "done"}]}

    def changed(self) -> bool:
        news, self.news = self.news, False
        return news

    async def list_tools(self) -> Listed:
        self.server.listings += 1
        if self.server.raises:
            raise self.server.raises
        return Listed(tuple(self.server.tools))

    async def call(
        self, name: str, arguments: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        del name, arguments, timeout_s
        self.loops.append(asyncio.get_running_loop())
        if self.server.raises:
            raise self.server.raises
        return self.answer

    async def gone(self) -> None:
        await self.ended.wait()
