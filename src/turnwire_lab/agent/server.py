"""The agent's door: a WebSocket for each client of a session, and one plain route about access.

It trusts everybody who can reach it, so it belongs on loopback.
"""

import asyncio
import re
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Final, Self, assert_never
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from turnwire_lab.agent.frames import Abort, Answer, Habits, Json, Ping, Prompt, parse, parse_plain
from turnwire_lab.agent.journal import Journal
from turnwire_lab.agent.session import Session
from turnwire_lab.agent.toolbox import CHECKOUT, toolbox, utc_now
from turnwire_lab.agent.visitor import bearer_of, user_of

FRAME_BYTES: Final = 32 * 1024 * 1024
HEARD: Final = 10_000
"""Frames kept for whoever asks what was heard."""
CLOSE_S: Final = 1.0

_PATH: Final = re.compile(r"/api/sessions/([^/]+)/(ws|access)")
_SESSION_ID: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.:-]{1,128}")


class ReferenceAgent:
    """A session backend in a box: `async with ReferenceAgent() as agent: ... agent.url ...`."""

    def __init__(
        self,
        habits: Habits | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        now: Callable[[], datetime] = utc_now,
        docs: Path = CHECKOUT,
    ) -> None:
        self.host = host
        self.port = port
        self.heard: list[Json] = []
        self.connections = 0
        self.journal = Journal()
        self._now = now
        self._habits = habits or Habits()
        self._tools = toolbox(now=now, docs=docs)
        self._sessions: dict[str, Session] = {}
        self._stirred = asyncio.Event()

    @property
    def url(self) -> str:
        """The gateway's template: put a session id where the braces are."""
        return f"ws://{self._authority}/api/sessions/{{session_id}}/ws?role=client"

    @property
    def access_url(self) -> str:
        return f"http://{self._authority}/api/sessions/{{session_id}}/access"

    def session(self, session_id: str) -> Session:
        if session_id not in self._sessions:
            self._sessions[session_id] = Session(
                session_id,
                habits=self._habits,
                tools=self._tools,
                now=self._now,
                journal=self.journal,
                group=self._group,
                changed=self._stir,
            )
        return self._sessions[session_id]

    async def until(self, fact: Callable[[], bool]) -> None:
        """Wait until something about this agent is so; bound it with a timeout."""
        while not fact():
            await self._stirred.wait()

    async def __aenter__(self) -> Self:
        # Bound outside the group, which would wrap "in use" in a group of errors.
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        listener = socket.create_server((self.host, self.port), family=family)
        self.port = listener.getsockname()[1]
        async with AsyncExitStack() as stack:
            self._group = await stack.enter_async_context(asyncio.TaskGroup())
            stack.callback(self._close_sessions)
            await stack.enter_async_context(
                serve(
                    self._converse,
                    sock=listener,
                    process_request=self._admit,
                    compression=None,
                    max_size=FRAME_BYTES,
                    close_timeout=CLOSE_S,
                    # A gateway stops reading when its client does, and may not see a ping for long:
                    # that is patience, not death.
                    ping_interval=None,
                )
            )
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Not told about the error: the group would wrap it, and whoever raised it would miss it.
        await self._stack.aclose()

    async def _converse(self, line: ServerConnection) -> None:
        assert line.request is not None
        session_id = _asked_for(line.request)[0]
        session = self.session(session_id)
        session.join(line, user_of(line.request.headers))
        # Many small frames: without this they would wait for each other's acknowledgment.
        sock: socket.socket = line.transport.get_extra_info("socket")
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connections += 1
        self._stir()
        try:
            with suppress(ConnectionClosed):
                async for data in line:
                    self._hear(session, line, data)
        finally:
            session.leave(line)
            self.connections -= 1
            self._stir()

    def _hear(self, session: Session, line: ServerConnection, data: str | bytes) -> None:
        if (plain := parse_plain(data)) is not None:
            self.heard.append(plain)
            del self.heard[:-HEARD]
        match asked := parse(data):
            case Prompt():
                session.ask(line, asked)
            case Abort():
                session.abort(line, asked)
            case Answer():
                session.answer(line, asked)
            case Ping():
                session.tell_one(line, {"type": "pong"})
            case None:
                pass  # what makes no sense is not worth a quarrel
            case _:
                assert_never(asked)
        self._stir()

    def _admit(self, line: ServerConnection, request: Request) -> Response | None:
        session_id, route, role = _asked_for(request)
        if not _SESSION_ID.fullmatch(session_id):
            return line.respond(404, "no such session\n")
        if route == "access":
            return self._access(line, request)
        return None if role == "client" else line.respond(400, "role must be client\n")

    def _access(self, line: ServerConnection, request: Request) -> Response:
        if bearer_of(request.headers) is None:
            return line.respond(401, "a bearer token, please\n")
        granted = {"role": "collaborator", "userId": user_of(request.headers)}
        response = line.respond(200, msgspec.json.encode(granted).decode())
        del response.headers["content-type"]
        response.headers["content-type"] = "application/json"
        return response

    def _close_sessions(self) -> None:
        for session in self._sessions.values():
            session.close()

    def _stir(self) -> None:
        self._stirred.set()
        self._stirred = asyncio.Event()

    @property
    def _authority(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _asked_for(request: Request) -> tuple[str, str, str]:
    """Session id, route and role; an id nobody may have for a path that is not ours."""
    parts = urlsplit(request.path)
    found = _PATH.fullmatch(parts.path)
    if found is None:
        return "", "", ""
    role = parse_qs(parts.query).get("role", ["client"])[-1]
    return unquote(found[1]), found[2], role
