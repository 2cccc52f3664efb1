"""Who may speak to the server.

It holds keys, so that nobody gets in by accident: it listens on loopback, or asks for a token. A
web page never gets in, though its browser may reach loopback: browsers tell the page's origin, and
a name that a page had resolved to 127.0.0.1 is still in `Host`.
"""

import ipaddress
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from turnwire_agent.generate.refusal import Refusal, RefusedError
from turnwire_agent.llm.credentials.key_file import KeyFile
from turnwire_agent.llm.credentials.port import CredentialError
from turnwire_agent.llm.credentials.secret import Secret

_CHALLENGE: Final = {"www-authenticate": "Bearer"}

FROM_A_PAGE: Final = Refusal(HTTPStatus.FORBIDDEN, "Requests of web pages are refused.")
WRONG_HOST: Final = Refusal(HTTPStatus.FORBIDDEN, "The host is none of this machine's own names.")
NO_TOKEN: Final = Refusal(HTTPStatus.UNAUTHORIZED, "A bearer token is needed.", _CHALLENGE)
WRONG_TOKEN: Final = Refusal(HTTPStatus.UNAUTHORIZED, "The bearer token is wrong.", _CHALLENGE)
TOKEN_UNREADABLE: Final = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE, "The server cannot read its token."
)


class Access:
    """The rule for one server.

    Args:
        loopback: Whether only this machine reaches it.
        token: The file that has the bearer token; it is read again when it changes. None: no token
            is asked for.
    """

    def __init__(self, *, loopback: bool, token: KeyFile | None) -> None:
        self._loopback = loopback
        self._token = token

    async def check(self, headers: Mapping[str, str]) -> None:
        """Let a request with these headers in.

        Raises:
            RefusedError: It is not.
        """
        if "origin" in headers:
            raise RefusedError(FROM_A_PAGE)
        if self._loopback and not is_own_name(headers.get("host", "")):
            raise RefusedError(WRONG_HOST)
        if self._token is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given:
            raise RefusedError(NO_TOKEN)
        try:
            token = await self._token.read()
        except CredentialError:
            raise RefusedError(TOKEN_UNREADABLE) from None
        if Secret(given.strip()) != token:
            raise RefusedError(WRONG_TOKEN)


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
