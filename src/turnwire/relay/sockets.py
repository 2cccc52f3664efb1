"""TCP sockets: a peer that vanishes is noticed in bounded time, and one that reads is seen to."""

import asyncio
import contextlib
import fcntl
import socket
import struct
import termios
from typing import Final

_KEEPALIVE: Final = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
"""Seconds before the first probe, seconds between probes, probes: gone after 25 s at most."""


_AFTER_OURS: Final = 1.25
"""The kernel cuts a peer that does not read later than we do, who can say why."""


def watch_peer(sock: socket.socket, stall_s: float) -> None:
    """Switch TCP keepalive on, and bound how long written data may go unacknowledged.

    `stall_s` is how long we ourselves wait for a peer that does not read.

    Sockets that a listening socket accepts inherit its options. Platforms that
    lack one of them (macOS names some differently) do without it.
    """
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (*_KEEPALIVE, ("TCP_USER_TIMEOUT", round(stall_s * _AFTER_OURS * 1000))):
        option = getattr(socket, name, None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


_VANISHED_S: Final = 20.0
"""Nothing acknowledged for so long, the probes included: nobody is there."""

_LAST_ACK: Final = struct.Struct("=56xI")
"""Where Linux keeps `tcpi_last_ack_recv`, milliseconds, in its `tcp_info`."""


def has_vanished(transport: asyncio.Transport) -> bool:
    """Whether the peer's system has been silent for too long.

    The kernel alone would take a stall time longer where a keepalive of ours goes out
    after the peer vanished: what is written but not acknowledged ends its probing.
    """
    sock: socket.socket | None = transport.get_extra_info("socket")
    option = getattr(socket, "TCP_INFO", None)
    if sock is None or option is None:
        return False
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, option, _LAST_ACK.size)
    except OSError:  # closed meanwhile
        return False
    return len(info) == _LAST_ACK.size and _LAST_ACK.unpack(info)[0] > _VANISHED_S * 1000


class ClientSocket:
    """What ASGI has no words for: how much a client has not taken yet, and cutting it off."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def unsent_bytes(self) -> int:
        """Bytes that the client has not acknowledged: ours and the kernel's."""
        waiting = self._transport.get_write_buffer_size()
        sock: socket.socket | None = self._transport.get_extra_info("socket")
        if sock is not None:
            with contextlib.suppress(OSError, ValueError):  # no Linux, or closed meanwhile
                queued = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(_INT.size))
                waiting += _INT.unpack(queued)[0]
        return waiting

    def cut(self) -> None:
        """Close the connection over what was not read."""
        self._transport.abort()


_INT: Final = struct.Struct("i")
