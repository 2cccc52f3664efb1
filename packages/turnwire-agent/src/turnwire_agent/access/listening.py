"""Where a server listens, and who reaches it there."""

import socket
from typing import Final, NamedTuple

from turnwire_agent.access.access import is_loopback

BACKLOG: Final = 1024
_LAST_PORT: Final = 65535


class CannotListenError(Exception):
    """The server does not start. The text is one line."""


class BadAddressError(CannotListenError):
    """The address is wrong, whatever the machine and its network do."""


class Place(NamedTuple):
    """Where a server can listen."""

    family: socket.AddressFamily
    address: tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]
    """As `socket` takes it."""
    loopback: bool
    """Whether this machine alone reaches it."""


def host_and_port(where: str) -> tuple[str, int]:
    """Take `HOST:PORT` apart; a host of IPv6 may stand in brackets.

    Raises:
        BadAddressError: It is none.
    """
    host, colon, port = where.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_number = port.isascii() and port.isdecimal() and len(port) <= len(str(_LAST_PORT))
    if not (host and colon and is_number and int(port) <= _LAST_PORT):
        raise BadAddressError(f"{where!r} is not HOST:PORT, as 127.0.0.1:8790")
    return host, int(port)


def place(where: str, *, has_token: bool) -> Place:
    """Find the place of `HOST:PORT`, without opening a port.

    Raises:
        BadAddressError: It is none, or others reach it and no token is asked of them.
        CannotListenError: Nobody knows the host.
    """
    host, port = host_and_port(where)
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise CannotListenError(f"the host {host!r} is unknown") from None
    loopback = is_loopback(str(address[0]))
    if not loopback and not has_token:
        ways = "--token-file or --token-jwks"
        raise BadAddressError(f"others than this machine reach {where}: give {ways}")
    return Place(family, address, loopback)


def listener(where: str, *, has_token: bool) -> tuple[socket.socket, bool]:
    """Listen at `HOST:PORT`; a port of 0 is any free one.

    Returns:
        The socket, and whether this machine alone reaches it.

    Raises:
        BadAddressError, CannotListenError: See `place`; or the address is taken.
    """
    family, address, loopback = place(where, has_token=has_token)
    try:
        listening = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotListenError(f"cannot listen at {where}: {error.strerror}") from None
    return listening, loopback
