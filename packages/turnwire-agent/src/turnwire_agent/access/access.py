"""Who may speak to the server.

It holds keys, so that nobody gets in by accident: it listens on loopback, or asks for a token. A
web page never gets in, though its browser may reach loopback: browsers tell the page's origin, and
a name that a page had resolved to 127.0.0.1 is still in `Host`.
"""

import ipaddress
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final, Protocol

from msgspec import Struct

from turnwire_agent.access.refusal import Refusal, RefusedError

CHALLENGE: Final = {"www-authenticate": "Bearer"}

FROM_A_PAGE: Final = Refusal(HTTPStatus.FORBIDDEN, "Requests of web pages are refused.")
WRONG_HOST: Final = Refusal(HTTPStatus.FORBIDDEN, "The host is none of this machine's own names.")
NO_TOKEN: Final = Refusal(HTTPStatus.UNAUTHORIZED, "A bearer token is needed.", CHALLENGE)


class Caller(Struct, frozen=True):
    """Who sent a request that is let in."""

    user: str | None = None
    """The subject of a signed token; None if nothing in the token names a user."""
    expires_at: float | None = None
    """Unix time from which on the token is good no more; None if it does not expire."""


NOBODY: Final = Caller()


class Tokens(Protocol):
    """Knows which bearer tokens are good."""

    async def caller(self, token: str) -> Caller:
        """Whose token it is.

        Raises:
            RefusedError: It is not good, or that cannot be told now.
        """
        ...


class Access:
    """The rule for one server.

    Args:
        loopback: Whether only this machine reaches it.
        tokens: Which tokens are good. None: no token is asked for.
    """

    def __init__(self, *, loopback: bool, tokens: Tokens | None) -> None:
        self._loopback = loopback
        self._tokens = tokens

    async def check(self, headers: Mapping[str, str]) -> Caller:
        """Let a request with these headers in.

        Raises:
            RefusedError: It is not.
        """
        if "origin" in headers:
            raise RefusedError(FROM_A_PAGE)
        if self._loopback and not is_own_name(headers.get("host", "")):
            raise RefusedError(WRONG_HOST)
        if self._tokens is None:
            return NOBODY
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise RefusedError(NO_TOKEN)
        return await self._tokens.caller(token.strip())


def is_own_name(host: str) -> bool:
    """Whether a `Host` header names this machine by itself: `localhost`, or a loopback address."""
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
    return name.lower() == "localhost" or is_loopback(name.removeprefix("[").removesuffix("]"))


def is_loopback(address: str) -> bool:
    """Whether an IP address is reached from this machine alone."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
