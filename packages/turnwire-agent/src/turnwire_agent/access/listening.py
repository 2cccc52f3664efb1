"""Where a server listens, and who reaches it there."""

import socket
from typing import Final

from turnwire_agent.access.access import is_loopback

BACKLOG: Final = 1024
_LAST_PORT: Final = 65535


class CannotListenError(Exception):
    """The server does not start. The text is one line."""


def listener(where: str, *, has_token: bool) -> tuple[socket.socket, bool]:
    """Listen at `HOST:PORT`; a port of 0 is any free one.

    Returns:
        The socket, and whether this machine alone reaches it.

    Raises:
        CannotListenError: The address is none, it is taken, or others reach it and no token is
            asked of them.
    """
    host, colon, port = where.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and colon and port.isascii() and port.isdecimal() and int(port) <= _LAST_PORT):
        raise CannotListenError(f"{where!r} is not HOST:PORT, as 127.0.0.1:8790")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise CannotListenError(f"the host {host!r} is unknown") from None
    loopback = is_loopback(str(address[0]))
    if not loopback and not has_token:
        ways = "--token-file or --token-jwks"
        raise CannotListenError(f"others than this machine reach {where}: give {ways}")
    try:
        listening = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotListenError(f"cannot listen at {where}: {error.strerror}") from None
    return listening, loopback
