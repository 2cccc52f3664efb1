"""The user behind a request, as far as an agent without accounts can tell.

Nothing is verified here: the gateway has checked the token, and the agents listen on loopback.
"""

import jwt
from websockets.datastructures import Headers


def header(headers: Headers, name: str) -> str:
    # Bytes beyond ASCII arrive as Latin-1, whatever they were meant to be.
    return headers.get(name, "").encode("latin-1", "replace").decode("utf-8", "replace")


def bearer_of(headers: Headers) -> str | None:
    scheme, _, token = header(headers, "authorization").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def named_user(headers: Headers) -> str | None:
    """The user that a gateway names. No agent backend has this header: it is the gateway's own."""
    return header(headers, "x-turnwire-user") or None


def subject_of(token: str) -> str | None:
    """The subject of a JSON web token; None if the token is no such token, or has no subject."""
    try:
        subject = jwt.decode(token, options={"verify_signature": False}).get("sub")
    except jwt.PyJWTError:
        return None
    return subject if isinstance(subject, str) and subject else None
