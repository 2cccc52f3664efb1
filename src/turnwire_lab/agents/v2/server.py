"""The server of the `v2` agent: a WebSocket for each client, and one plain route about access."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, assert_never
from urllib.parse import parse_qs, unquote, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from turnwire_lab.agents.common.identity import bearer_of
from turnwire_lab.agents.common.server import AgentServer, json_response
from turnwire_lab.agents.common.toolbox import CHECKOUT, utc_now
from turnwire_lab.agents.v2.caller import user_of
from turnwire_lab.agents.v2.frames import Abort, Answer, Habits, Ping, Prompt, parse
from turnwire_lab.agents.v2.journal import Journal
from turnwire_lab.agents.v2.session import Session

_PATH: Final = re.compile(r"/api/sessions/([^/]+)/(ws|access)")
_SESSION_ID: Final = re.compile(r"(?!\.{1,2}\Z)[A-Za-z0-9_.:-]{1,128}")


class ReferenceAgent(AgentServer[Session]):
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
        super().__init__(host, port, now=now, docs=docs)
        self.journal = Journal()
        self._habits = habits or Habits()

    def _new_session(self, session_id: str) -> Session:
        return Session(
            session_id,
            habits=self._habits,
            tools=self._tools,
            now=self._now,
            journal=self.journal,
            group=self._group,
            changed=self._stir,
        )

    async def _converse(self, line: ServerConnection) -> None:
        assert line.request is not None
        session_id = _asked_for(line.request)[0]
        session = self.session(session_id)
        with self._counted(line):
            session.join(line, user_of(line.request.headers))
            self._stir()
            try:
                with suppress(ConnectionClosed):
                    async for data in line:
                        self._hear(session, line, data)
            finally:
                session.leave(line)

    def _hear(self, session: Session, line: ServerConnection, data: str | bytes) -> None:
        self._keep(data)
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
        return json_response(line, 200, granted)


def _asked_for(request: Request) -> tuple[str, str, str]:
    """Session id, route and role; an id that no session has, for a path that is not ours."""
    parts = urlsplit(request.path)
    found = _PATH.fullmatch(parts.path)
    if found is None:
        return "", "", ""
    role = parse_qs(parts.query).get("role", ["client"])[-1]
    return unquote(found[1]), found[2], role
