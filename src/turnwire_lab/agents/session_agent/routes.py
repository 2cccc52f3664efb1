"""The plain side of the door: what is refused before a socket opens, and what needs none (§2)."""

import re
from datetime import UTC, datetime
from typing import Final, Literal
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from turnwire_lab.agents.common.frames import Json
from turnwire_lab.agents.common.server import json_response
from turnwire_lab.agents.session_agent.caller import token_of, user_of
from turnwire_lab.agents.session_agent.habits import Habits
from turnwire_lab.agents.session_agent.session import Session

Kind = Literal["ws", "access", "messages", "session", "nothing"]

_PATH: Final = re.compile(r"/api/sessions/([^/]+)(?:/(ws|access|messages))?")
_SESSION_ID: Final = re.compile(r"(?!\.{1,2}\Z)[\w.:@-]{1,128}")


class Route(msgspec.Struct, frozen=True):
    session_id: str
    kind: Kind
    role: str | None = None


def route_of(request: Request) -> Route:
    parts = urlsplit(request.path)
    found = _PATH.fullmatch(parts.path)
    if found is None:
        return Route("", "nothing")
    role = parse_qs(parts.query).get("role", [None])[-1]
    return Route(unquote(found[1]), _KINDS[found[2]], role)


def refusal(
    line: ServerConnection, request: Request, route: Route, habits: Habits
) -> Response | None:
    """Why not, in the product's order: who is it, may they see it, is it well asked."""
    token = token_of(request.headers)
    if token is None or user_of(request.headers, token) in habits.revoked:
        words = "Missing or invalid authentication"
        return json_response(line, 401, {"error": words, "code": "UNAUTHORIZED"})
    if route.kind == "nothing" or not _visible(route.session_id, habits):
        # Denied and absent look the same (§2.2).
        words = f"Session with id '{route.session_id}' not found"
        return json_response(line, 404, {"error": words, "code": "NOT_FOUND"})
    if route.kind != "ws":
        return None
    if request.headers.get("upgrade", "").lower() != "websocket":
        return line.respond(404, "Not found")
    if route.role != "client":
        return line.respond(400, "Missing or invalid role parameter")
    return None


def answer_plainly(
    line: ServerConnection, route: Route, session: Session, user_id: str
) -> Response:
    match route.kind:
        case "access":
            # Not the product's: the gateway's question about access, as a shim would answer it.
            orchestrator = session.id.startswith("orchestrator:")
            role = "owner" if user_id == session.owner else "collaborator"
            granted = {"role": role, "userId": user_id, "orchestrator": orchestrator}
            return json_response(line, 200, granted)
        case "messages":
            return json_response(
                line, 200, {"messages": [_dated(entry) for entry in session.entries]}
            )
        case _:
            state: Json = {
                "status": session.status,
                "runnerBusy": bool(session.processing),
                "queuedPrompts": len(session.queued),
            }
            summary = {"id": session.id, "status": session.status, "userId": session.owner}
            return json_response(line, 200, {"session": summary, "doStatus": state})


def _visible(session_id: str, habits: Habits) -> bool:
    if not _SESSION_ID.fullmatch(session_id) or session_id in habits.forbidden:
        return False
    return habits.sessions is None or session_id in habits.sessions


def _dated(entry: Json) -> Json:
    """Here times are ISO strings, not seconds (§2.3)."""
    return entry | {"createdAt": datetime.fromtimestamp(entry["createdAt"], UTC).isoformat()}


_KINDS: Final[dict[str | None, Kind]] = {
    None: "session",
    "ws": "ws",
    "access": "access",
    "messages": "messages",
}
