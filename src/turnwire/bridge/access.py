"""Who may connect: whoever knows the token, and no page in a browser.

A process on this machine is within reach of each page that a browser on it shows, since a page may
open a WebSocket to any address. A browser says so in `Origin`, and no agent's client sends one.
"""

import hmac
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final

TOKEN_MIN: Final = 16
"""Fewest characters of a token. A shorter one could be guessed by other users of the machine."""

_SCHEME: Final = "bearer "


def refusal(token: str, headers: Iterable[tuple[str, str]]) -> HTTPStatus | None:
    """Return the status that refuses a request with these headers; None: it may connect."""
    given: list[str] = []
    for name, value in headers:
        if name.lower() == "origin":
            return HTTPStatus.FORBIDDEN
        if name.lower() == "authorization":
            given.append(value)
    if len(given) != 1 or not given[0].lower().startswith(_SCHEME):
        return HTTPStatus.UNAUTHORIZED
    sent = given[0][len(_SCHEME) :].strip()
    is_right = hmac.compare_digest(sent.encode(errors="replace"), token.encode(errors="replace"))
    return None if is_right else HTTPStatus.UNAUTHORIZED
