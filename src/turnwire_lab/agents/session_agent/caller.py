"""The user behind a request to the session agent."""

from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader
from websockets.headers import parse_subprotocol

from turnwire_lab.agents.common.identity import bearer_of, named_user, subject_of

_OFFER = "bearer."


def token_of(headers: Headers) -> str | None:
    """The token in the header, else the one offered as a sub-protocol; never the query (§2.1)."""
    if token := bearer_of(headers):
        return token
    try:
        offered = [
            entry
            for value in headers.get_all("sec-websocket-protocol")
            for entry in parse_subprotocol(value)
        ]
    except InvalidHeader:
        return None
    return next((o.removeprefix(_OFFER) for o in offered if o.startswith(_OFFER)), None) or None


def user_of(headers: Headers, token: str) -> str:
    """The user that the gateway names, else the subject of the token, else the token itself."""
    return named_user(headers) or subject_of(token) or token


def details(user_id: str) -> dict[str, str | None]:
    """What a directory would know about a user."""
    return {"name": user_id.title(), "email": f"{user_id}@users.example", "avatarUrl": None}
