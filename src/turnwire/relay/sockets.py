"""Options of TCP sockets: a peer that vanishes without a word is noticed in bounded time."""

import socket
from typing import Final

_KEEPALIVE: Final = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
"""Seconds before the first probe, seconds between probes, probes: gone after 25 s at most."""


def watch_peer(sock: socket.socket, user_timeout_s: float) -> None:
    """Switch TCP keepalive on, and bound how long written data may go unacknowledged.

    Sockets that a listening socket accepts inherit its options. Platforms that
    lack one of them (macOS names some differently) do without it.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (*_KEEPALIVE, ("TCP_USER_TIMEOUT", round(user_timeout_s * 1000))):
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)
