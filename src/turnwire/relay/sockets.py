"""TCP sockets: a peer that vanishes is noticed in bounded time, and one that reads is seen to."""

import asyncio
import contextlib
import fcntl
import functools
import socket
import struct
import termios
from collections.abc import Callable, Sequence
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
    if sock.fileno() < 0:  # closed meanwhile
        return
    # uvloop's own kind of socket would make one of these for each option.
    own = socket.socket(sock.family, sock.type, sock.proto, sock.fileno())
    try:
        for option in _options(stall_s):
            own.setsockopt(*option)
    finally:
        own.detach()


@functools.lru_cache(maxsize=8)
def _options(stall_s: float) -> Sequence[tuple[int, int, int]]:
    """What is set, of what there is here: looked up once, and set on each connection."""
    wanted = (*_KEEPALIVE, ("TCP_USER_TIMEOUT", round(stall_s * _AFTER_OURS * 1000)))
    there = [(name, value) for name, value in wanted if hasattr(socket, name)]
    return [
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in there),
    ]


_VANISHED_S: Final = 20.0
"""Nothing acknowledged for so long, the probes included: nobody is there."""

_NEARLY: Final = 0.9
"""Of the time set: the kernel's clock is coarser than its timers."""

_INT: Final = struct.Struct("i")
_LAST_ACK: Final = struct.Struct("=56xI")
"""Where Linux keeps `tcpi_last_ack_recv`, milliseconds, in its `tcp_info`."""
_WAITING: Final = struct.Struct("=24xI")
"""Where it keeps `tcpi_unacked`, which of a listening socket is the length of its queue."""


def vanishes_in(transport: asyncio.Transport) -> float:
    """In how many seconds the peer will have been silent for too long, unless it is heard again.

    Less than nothing: it has vanished.

    The kernel alone would take a stall time longer where a keepalive of ours goes out
    after the peer vanished: what is written but not acknowledged ends its probing.
    """
    silent_ms = _option(transport, "TCP_INFO", _LAST_ACK)
    return _VANISHED_S - (silent_ms or 0) / 1000


def was_there(transport: asyncio.Transport) -> bool:
    """Whether a peer that the kernel gave up on had answered it: it is there, and does not read.

    The kernel cuts both alike. Who does not read answers each probe of its closed window, and
    these come often enough; who vanished was silent for all of the time that we set.
    """
    silent_ms = _option(transport, "TCP_INFO", _LAST_ACK)
    given_ms = _option(transport, "TCP_USER_TIMEOUT", _INT)
    return silent_ms is None or given_ms is None or silent_ms < given_ms * _NEARLY


def waiting_connections(listening: socket.socket) -> int:
    """How many connections the kernel has made that were not accepted yet; 0 if it does not say."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return 0
    told = listening.getsockopt(socket.IPPROTO_TCP, option, _WAITING.size)
    return int(_WAITING.unpack(told)[0]) if len(told) == _WAITING.size else 0


def _option(transport: asyncio.Transport, name: str, kind: struct.Struct) -> int | None:
    """A number that the kernel has on a TCP socket; None if it does not say."""
    sock: socket.socket | None = transport.get_extra_info("socket")
    option = getattr(socket, name, None)
    if sock is None or option is None:
        return None
    try:
        told = sock.getsockopt(socket.IPPROTO_TCP, option, kind.size)
    except OSError:  # closed meanwhile
        return None
    return None if len(told) != kind.size else int(kind.unpack(told)[0])


class ClientSocket:
    """What ASGI has no words for: how much a client has not taken yet, and cutting it off.

    It also tells of a client's end without the task that waits for ASGI's word of it.
    """

    __slots__ = ("_is_gone", "_on_gone", "_transport", "is_heard", "stalled")

    def __init__(self, transport: asyncio.Transport) -> None:
        self.stalled = False
        """Whether the kernel cut it, because it took nothing for too long (`watch_peer`)."""
        self.is_heard = False
        """Whether its request is whole, so that nothing is to come from it but its end."""
        self._transport = transport
        self._is_gone = False
        self._on_gone: Callable[[], object] | None = None

    def watch(self, on_gone: Callable[[], object] | None) -> None:
        """Have this called when the client is gone, soon if it is already; None: nobody."""
        self._on_gone = on_gone
        if self._is_gone and on_gone is not None:
            asyncio.get_running_loop().call_soon(self.gone)

    def gone(self) -> None:
        """The client's connection is closed."""
        self._is_gone = True
        tell, self._on_gone = self._on_gone, None
        if tell is not None:
            tell()

    @property
    def unwritten_bytes(self) -> int:
        """Bytes that the kernel has not taken."""
        return self._transport.get_write_buffer_size()

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
