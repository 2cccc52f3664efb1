"""How the agent is called for a request, and what its refusals are worth to the client."""

import functools
from typing import Final
from urllib.parse import quote

from turnwire import __version__
from turnwire.core.refusal import Refusal
from turnwire.errors import (
    AnotherTurn,
    BadRequest,
    NotFound,
    NotSupported,
    QuestionClosed,
    Refused,
    SessionConflict,
    Unauthorized,
    Unavailable,
)
from turnwire.relay.stream import Call
from turnwire.settings import PLACEHOLDER
from turnwire.web.endpoint import Visit
from turnwire.web.gateway import Gateway

DIAL_REFUSALS: Final[dict[int | None, type[Refused]]] = {401: Unauthorized, 404: NotFound}
"""What the agent's handshake may say about the user's own token."""

_REFUSALS: Final[dict[Refusal, type[Refused]]] = {
    Refusal.SESSION: SessionConflict,
    Refusal.UNNAMED: SessionConflict,
    Refusal.OTHER_TURN: AnotherTurn,
    Refusal.UNHARMED: AnotherTurn,
    Refusal.UNKNOWN: NotFound,
    Refusal.CLOSED: QuestionClosed,
    Refusal.UNSIGNED: BadRequest,
    Refusal.UNSUPPORTED: NotSupported,
    Refusal.SILENT: Unavailable,
    # Where it is no 204: a continuation of a turn that is over.
    Refusal.NOTHING: QuestionClosed,
}


def call(gateway: Gateway, visit: Visit) -> Call:
    """Where the agent of this session is, and who it is told is asking."""
    settings = gateway.settings
    return Call(
        settings.agent_url.replace(PLACEHOLDER, _segment(visit.request.session_id)),
        _headers(gateway, visit),
        gateway.dialect.subprotocols,
    )


def refused(why: Refusal) -> Refused:
    """The status for what the agent's side said."""
    return _REFUSALS[why](why.value)


def dial_refused(status: int, agent_auth: str) -> Refused:
    """The status for a handshake that the agent answered with one.

    Only about the user's own token does it say anything to the user.
    """
    if agent_auth == "forward" and status in DIAL_REFUSALS:
        return DIAL_REFUSALS[status](f"the agent answered {status} to the user's token")
    return Unavailable(f"the agent answered {status} to the gateway")


def _headers(gateway: Gateway, visit: Visit) -> dict[str, str]:
    settings = gateway.settings
    headers = {
        "user-agent": f"turnwire/{__version__}",
        "x-request-id": visit.request.id,
        **visit.request.trace.headers,
    }
    match settings.agent_auth:
        case "forward":
            headers["authorization"] = f"Bearer {visit.caller.token}"
            return headers
        case "service":
            headers["authorization"] = f"Bearer {settings.agent_token}"
        case "none":
            pass
    # Percent-encoded: a header cannot carry every user id as it is.
    headers["x-turnwire-user"] = quote(visit.user_id, safe="@.:|/+-_~")
    return headers


@functools.lru_cache(maxsize=1024)
def _segment(session_id: str) -> str:
    return quote(session_id, safe=":")
