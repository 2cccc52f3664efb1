"""TCP sockets: notice a vanished peer in bounded time, and measure what a peer has acknowledged."""

import asyncio
import contextlib
import contextvars
import fcntl
import functools
import socket
import struct
import termios
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

_KEEPALIVE: Final = (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
"""Seconds before the first probe, seconds between probes, probes: gone after 25 s at most."""


_KERNEL_TIMEOUT_FACTOR: Final = 1.25
"""Factor on the stall time: the kernel drops an agent that acknowledges nothing later than the
gateway drops a client."""


def watch_peer(sock: socket.socket, user_timeout_s: float = 0) -> None:
    """Switch TCP keepalive on. With `user_timeout_s`, also bound the time without acknowledgement.

    The kernel's bound (`TCP_USER_TIMEOUT`) counts the time in which the peer's window cannot take
    the next segment, even if the peer reads and the window takes a part of the segment each time.
    It would cut a client that reads slowly and steadily. So the gateway does not set it for
    clients, and checks them with `peer_state`.

    Sockets that a listening socket accepts inherit its options. A platform that lacks an option
    (macOS has other names for some) works without it.
    """
    if sock.fileno() < 0:  # closed meanwhile
        return
    # One plain socket for all options: uvloop's socket object would make one for each option.
    plain_socket = socket.socket(sock.family, sock.type, sock.proto, sock.fileno())
    try:
        for option in _options(user_timeout_s):
            plain_socket.setsockopt(*option)
    finally:
        plain_socket.detach()


@functools.lru_cache(maxsize=8)
def _options(user_timeout_s: float) -> Sequence[tuple[int, int, int]]:
    """The options that this platform has, as arguments of `setsockopt`. Cached."""
    options = [*_KEEPALIVE]
    if user_timeout_s:
        options.append(("TCP_USER_TIMEOUT", round(user_timeout_s * _KERNEL_TIMEOUT_FACTOR * 1000)))
    available = [(name, value) for name, value in options if hasattr(socket, name)]
    return [
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in available),
    ]


_VANISHED_S: Final = 20.0
"""After so many seconds without any acknowledgement, also of probes, the peer has vanished."""

_INT: Final = struct.Struct("i")
_INFO: Final = struct.Struct("=2xBB20xI28xI60xQ16xI")
"""Offsets in Linux's `tcp_info` of `tcpi_retransmits` and `tcpi_probes` (unanswered ones),
`tcpi_unacked` (segments), `tcpi_last_ack_recv` (milliseconds), `tcpi_bytes_acked` and
`tcpi_notsent_bytes`."""
_UNACKED: Final = struct.Struct("=24xI")
"""Offset of `tcpi_unacked`: for a listening socket this is the length of the accept queue."""


class PeerState(NamedTuple):
    """What the kernel knows of a peer."""

    vanishes_in_s: float
    """Seconds until the peer counts as vanished, if it sends nothing; below 0: it has vanished.

    The kernel alone needs far longer if the gateway wrote a keepalive after the peer vanished:
    the kernel does not probe while written data is unacknowledged.
    """
    silent_s: float
    has_unacked: bool
    """Whether the kernel has bytes that the peer has not acknowledged."""
    acked_bytes: int
    """Bytes that the peer has acknowledged since the connection opened."""
    is_probed: bool
    """Whether a retransmission or a window probe of the kernel is unanswered."""


def peer_state(transport: asyncio.Transport) -> PeerState | None:
    """Read the state of the peer from the kernel; None if the kernel does not provide it."""
    values = _option(transport, "TCP_INFO", _INFO)
    if values is None:
        return None
    retransmits, probes, unacked, silent_ms, acked_bytes, unsent_bytes = values
    silent_s = silent_ms / 1000
    has_unacked, is_probed = bool(unacked or unsent_bytes), bool(retransmits or probes)
    return PeerState(_VANISHED_S - silent_s, silent_s, has_unacked, acked_bytes, is_probed)


def cut(transport: asyncio.Transport) -> None:
    """Reset a connection, and discard the data that the peer has not taken, also in the kernel.

    After an orderly close the kernel would keep that data for minutes.
    """
    sock: socket.socket | None = transport.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
    transport.abort()


_NO_LINGER: Final = struct.pack("ii", 1, 0)


def waiting_connections(listening: socket.socket) -> int:
    """Number of connections in the accept queue; 0 if the kernel does not provide it."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return 0
    raw = listening.getsockopt(socket.IPPROTO_TCP, option, _UNACKED.size)
    return int(_UNACKED.unpack(raw)[0]) if len(raw) == _UNACKED.size else 0


def _option(
    transport: asyncio.Transport, name: str, layout: struct.Struct
) -> tuple[int, ...] | None:
    """Read a socket option, unpacked as `layout`; None if the kernel does not provide it."""
    sock: socket.socket | None = transport.get_extra_info("socket")
    option = getattr(socket, name, None)
    if sock is None or option is None:
        return None
    try:
        raw = sock.getsockopt(socket.IPPROTO_TCP, option, layout.size)
    except OSError:  # closed meanwhile
        return None
    return layout.unpack(raw) if len(raw) == layout.size else None


_FIRST_POLL_S: Final = 0.05
"""Seconds; most clients acknowledge the end of a response in less."""
_MAX_POLL_S: Final = 1.0
"""Most seconds between two polls of a slow client. The interval doubles with each poll."""


class ClientSocket:
    """A client's connection, for what ASGI lacks: unacknowledged bytes, and a hard disconnect.

    It also reports the client's disconnect without a task that awaits `http.disconnect`.
    """

    __slots__ = (
        "_has_acked_all",
        "_is_gone",
        "_on_acked",
        "_on_gone",
        "_transport",
        "is_closing",
        "is_lost",
        "is_request_complete",
        "stalled",
    )

    def __init__(self, transport: asyncio.Transport) -> None:
        self.stalled = False
        """Whether the client was cut, because it took nothing for too long."""
        self.is_request_complete = False
        """Whether the request is complete, so that only the disconnect can follow."""
        self.is_closing = False
        """Whether the connection closes as soon as the client has taken everything."""
        self.is_lost = False
        """Whether the client is gone and did not get its whole response."""
        self._transport = transport
        self._has_acked_all = False
        """Whether the whole response was written and acknowledged."""
        self._is_gone = False
        self._on_gone: Callable[[], object] | None = None
        self._on_acked: list[Callable[[], object]] | None = None

    def watch(self, on_gone: Callable[[], object] | None) -> None:
        """Call `on_gone` when the client is gone, soon if it is gone already. None: no callback."""
        self._on_gone = on_gone
        if self._is_gone and on_gone is not None:
            asyncio.get_running_loop().call_soon(self.gone)

    def _has_unacked_bytes(self) -> bool:
        """Whether the client has not acknowledged everything."""
        self._has_acked_all = self._has_acked_all or not self.unsent_bytes()
        return not self._has_acked_all

    def lost(self, *, is_answered: bool) -> None:
        """The connection is closed. `is_answered`: the whole response was written before."""
        self.is_lost = not is_answered or self._has_unacked_bytes()

    def gone(self) -> None:
        """The connection is closed, and the server has cleaned up. Called after `lost`."""
        self._is_gone = True
        callback, self._on_gone = self._on_gone, None
        if callback is not None:
            callback()
        self._call_on_acked()

    def when_acked(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the client has acknowledged all written data, or is gone.

        For most clients that is at once. The caller must not write after this.
        """
        if self._on_acked is None and (self._is_gone or not self._has_unacked_bytes()):
            callback()
            return
        # The callback logs with the context variables of its caller.
        in_context = functools.partial(contextvars.copy_context().run, callback)
        if self._on_acked is not None:
            self._on_acked.append(in_context)
        else:
            self._on_acked = [in_context]
            self._poll_in(_FIRST_POLL_S)

    @property
    def has_ack_waiters(self) -> bool:
        """Whether callbacks of `when_acked` wait. Checks the socket once more before."""
        if self._on_acked is not None and not self._has_unacked_bytes():
            self._call_on_acked()
        return self._on_acked is not None

    def _poll_in(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._poll, seconds)

    def _poll(self, seconds: float) -> None:
        if self.has_ack_waiters:
            self._poll_in(min(2 * seconds, _MAX_POLL_S))

    def _call_on_acked(self) -> None:
        callbacks, self._on_acked = self._on_acked, None
        for callback in callbacks or ():
            callback()

    @property
    def unwritten_bytes(self) -> int:
        """Bytes that the kernel has not taken."""
        return self._transport.get_write_buffer_size()

    def unsent_bytes(self) -> int:
        """Bytes that the client has not acknowledged: in our buffer and in the kernel's."""
        waiting = self._transport.get_write_buffer_size()
        sock: socket.socket | None = self._transport.get_extra_info("socket")
        if sock is not None:
            with contextlib.suppress(OSError, ValueError):  # not Linux, or closed meanwhile
                queued = fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(_INT.size))
                waiting += _INT.unpack(queued)[0]
        return waiting

    def cut(self) -> None:
        """Reset the connection, and discard the data that the client has not read."""
        cut(self._transport)
