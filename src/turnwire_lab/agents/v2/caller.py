"""The user behind a request to the `v2` agent."""

import hashlib

from websockets.datastructures import Headers

from turnwire_lab.agents.common.identity import bearer_of, named_user, subject_of


def user_of(headers: Headers) -> str | None:
    """The user that the gateway names, else the subject of the token, else None."""
    token = bearer_of(headers)
    return named_user(headers) or (None if token is None else subject_of(token) or _opaque(token))


def _opaque(token: str) -> str:
    """A token without a subject still stands for one user, the same each time."""
    return f"user-{hashlib.sha256(token.encode()).hexdigest()[:8]}"
