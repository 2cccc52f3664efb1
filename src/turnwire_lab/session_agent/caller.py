"""Who is calling. Nothing is verified: the gateway has checked the token, and this is loopback."""

import jwt
from websockets.datastructures import Headers
from websockets.exceptions import InvalidHeader
from websockets.headers import parse_subprotocol

from turnwire_lab.agent.visitor import bearer_of

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
    """The user a gateway names, else whom the token is about, else the token itself.

    The product has no such header: it is how a gateway with a token of its own says whom it
    speaks for.
    """
    if named := headers.get("x-turnwire-user", ""):
        # Bytes beyond ASCII arrive as Latin-1, whatever they were meant to be.
        return named.encode("latin-1", "replace").decode("utf-8", "replace")
    try:
        subject = jwt.decode(token, options={"verify_signature": False}).get("sub")
    except jwt.PyJWTError:
        return token
    return subject if isinstance(subject, str) and subject else token


def details(user_id: str) -> dict[str, str | None]:
    """What a directory would know about a user."""
    return {"name": user_id.title(), "email": f"{user_id}@users.example", "avatarUrl": None}
