"""The server of a reference agent below its wire: a listener, sockets, sessions by id.

It trusts every client that can reach it, so it belongs on loopback.
"""

import asyncio
import socket
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from turnwire_lab.agents.common.frames import Json, parse_plain
from turnwire_lab.agents.common.toolbox import toolbox
from turnwire_lab.service import Service

FRAME_BYTES: Final = 32 * 1024 * 1024
KEPT_FRAMES: Final = 10_000
"""Received frames that are kept, for tests."""
CLOSE_S: Final = 1.0


class _Closing(Protocol):
    def close(self) -> None: ...


SessionT = TypeVar("SessionT", bound=_Closing)


class AgentServer(Service, Generic[SessionT]):
    """`async with` opens it. A subclass makes sessions and handles frames."""

    def __init__(self, host: str, port: int, *, now: Callable[[], datetime], docs: Path) -> None:
        self.host = host
        self.port = port
        self.received: list[Json] = []
        self.connections = 0
        self._now = now
        self._tools = toolbox(now=now, docs=docs)
        self._sessions: dict[str, SessionT] = {}
        self._stirred = asyncio.Event()

    @property
    def url(self) -> str:
        """The gateway's template: put a session id where the braces are."""
        return f"ws://{self._authority}/api/sessions/{{session_id}}/ws?role=client"

    @property
    def access_url(self) -> str:
        return f"http://{self._authority}/api/sessions/{{session_id}}/access"

    def session(self, session_id: str) -> SessionT:
        if session_id not in self._sessions:
            self._sessions[session_id] = self._new_session(session_id)
        return self._sessions[session_id]

    async def until(self, fact: Callable[[], bool]) -> None:
        """Wait until the fact is true. There is no time limit: use a timeout."""
        while not fact():
            await self._stirred.wait()

    @abstractmethod
    def _new_session(self, session_id: str) -> SessionT: ...

    @abstractmethod
    def _admit(self, line: ServerConnection, request: Request) -> Response | None:
        """Answer plainly, or let a socket open."""

    @abstractmethod
    async def _converse(self, line: ServerConnection) -> None:
        """Serve one socket to its end."""

    def _subprotocol(
        self, _line: ServerConnection, _offered: Sequence[Subprotocol]
    ) -> Subprotocol | None:
        return None

    async def _start(self, stack: AsyncExitStack) -> None:
        # Bound outside the group, which would wrap "in use" in a group of errors.
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = socket.create_server((self.host, self.port), family=family)
        self.port = listener.getsockname()[1]
        self._group = await stack.enter_async_context(asyncio.TaskGroup())
        stack.callback(self._close_sessions)
        await stack.enter_async_context(
            serve(
                self._converse,
                sock=listener,
                process_request=self._admit,
                select_subprotocol=self._subprotocol,
                compression=None,
                max_size=FRAME_BYTES,
                close_timeout=CLOSE_S,
                # A gateway stops reading when its client does, and may not see a ping for long:
                # that is patience, not death. What the agents stand for only answers pings.
                ping_interval=None,
            )
        )

    @contextmanager
    def _counted(self, line: ServerConnection) -> Iterator[None]:
        """Count a socket as long as it is served."""
        # Many small frames: without this they would wait for each other's acknowledgment.
        sock: socket.socket = line.transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        try:
            yield
        finally:
            self.connections -= 1
            self._stir()

    def _keep(self, data: str | bytes) -> Json | None:
        """Keep a frame in `received`, if it is an object."""
        plain = parse_plain(data)
        if plain is not None:
            self.received.append(plain)
            del self.received[:-KEPT_FRAMES]
        return plain

    def _close_sessions(self) -> None:
        for session in self._sessions.values():
            session.close()

    def _stir(self) -> None:
        self._stirred.set()
        self._stirred = asyncio.Event()

    @property
    def _authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def json_response(line: ServerConnection, status: int, body: Json) -> Response:
    response = line.respond(status, msgspec.json.encode(body).decode())
    del response.headers["content-type"]
    response.headers["content-type"] = "application/json"
    return response
