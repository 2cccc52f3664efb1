"""Who is on the line, as far as an agent without accounts can tell.

Nothing is verified here: the gateway has checked the token, and this agent listens on loopback.
"""

import hashlib

import jwt
from websockets.datastructures import Headers


def bearer_of(headers: Headers) -> str | None:
    scheme, _, token = _header(headers, "authorization").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def user_of(headers: Headers) -> str | None:
    """The user the gateway names, else the one the token names, else nobody."""
    if named := _header(headers, "x-turnwire-user"):
        return named
    token = bearer_of(headers)
    return None if token is None else _subject_of(token)


def _subject_of(token: str) -> str:
    try:
        subject = jwt.decode(token, options={"verify_signature": False}).get("sub")
    except jwt.PyJWTError:
        subject = None
    # A token that says nothing still stands for one user, the same each time.
    opaque = f"user-{hashlib.sha256(token.encode()).hexdigest()[:8]}"
    return subject if isinstance(subject, str) and subject else opaque


def _header(headers: Headers, name: str) -> str:
    # Bytes beyond ASCII arrive as Latin-1, whatever they were meant to be.
    return headers.get(name, "").encode("latin-1", "replace").decode("utf-8", "replace")
