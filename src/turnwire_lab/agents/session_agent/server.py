"""The server of the session agent: a WebSocket for each client, and a few plain routes (§2)."""

from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.typing import Subprotocol

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.server import KEPT_FRAMES, AgentServer
from turnwire_lab.agents.common.toolbox import CHECKOUT, utc_now
from turnwire_lab.agents.session_agent.caller import token_of, user_of
from turnwire_lab.agents.session_agent.habits import Habits
from turnwire_lab.agents.session_agent.handlers.asked import NotJson, parse
from turnwire_lab.agents.session_agent.routes import Route, answer_plainly, refusal, route_of
from turnwire_lab.agents.session_agent.session import Session
from turnwire_lab.agents.session_agent.state.tally import Tally


class SessionAgent(AgentServer[Session]):
    """A session agent in a box: `async with SessionAgent(Habits(revision="V")) as agent: ...`."""

    def __init__(
        self,
        habits: Habits | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        now: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = lambda: str(uuid4()),
        docs: Path = CHECKOUT,
    ) -> None:
        super().__init__(host, port, now=now, docs=docs)
        self.habits = habits or Habits()
        self.received_from: list[tuple[str, Json]] = []
        """The same frames, each with the user of its socket."""
        self.tally = Tally()
        self._new_id = new_id

    def _new_session(self, session_id: str) -> Session:
        return Session(
            session_id,
            habits=self.habits,
            tools=self._tools,
            now=self._now,
            new_id=self._new_id,
            group=self._group,
            changed=self._stir,
            tally=self.tally,
        )

    async def _start(self, stack: AsyncExitStack) -> None:
        await super()._start(stack)
        stack.callback(self._release_sockets)

    async def _converse(self, line: ServerConnection) -> None:
        route, user_id = self._asked_for(line)
        session = self.session(route.session_id)
        with self._counted(line):
            try:
                await session.join(line, user_id)
                self._stir()
                with suppress(ConnectionClosed):
                    async for data in line:
                        self._hear(session, line, user_id, data)
            finally:
                session.leave(line)

    def _hear(
        self, session: Session, line: ServerConnection, user_id: str, data: str | bytes
    ) -> None:
        if (plain := self._keep(data)) is not None:
            self.received_from.append((user_id, plain))
            del self.received_from[:-KEPT_FRAMES]
        try:
            asked = parse(data, self.habits.revision)
        except NotJson:
            session.complain(line, "Invalid JSON")
        else:
            if asked is not None:
                session.hear(line, asked)
        self._stir()

    def _admit(self, line: ServerConnection, request: Request) -> Response | None:
        route = route_of(request)
        if (response := refusal(line, request, route, self.habits)) is not None:
            return response
        if route.kind == "ws":
            return None
        _, user_id = self._asked_for(line)
        return answer_plainly(line, route, self.session(route.session_id), user_id)

    def _subprotocol(self, _line: ServerConnection, _offered: object) -> Subprotocol | None:
        """A and V name one even to a client that offered none (§2.1)."""
        if self.habits.revision == "R":
            return Subprotocol("agent-ops") if self.habits.late_february else None
        return Subprotocol("valet")

    def _asked_for(self, line: ServerConnection) -> tuple[Route, str]:
        assert line.request is not None
        route, token = route_of(line.request), token_of(line.request.headers)
        user_id = user_of(line.request.headers, token or "")
        if route.session_id == "orchestrator" and self.habits.revision == "V":
            # An alias for the caller's own session (§2.1).
            route = Route(f"orchestrator:{user_id}", route.kind, route.role)
        return route, user_id

    def _release_sockets(self) -> None:
        # A socket that still waits for its `init` would keep the server from closing.
        for session in self._sessions.values():
            session.release_init()
