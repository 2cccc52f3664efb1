"""TCP sockets: a peer that vanishes is noticed in bounded time, and one that reads is seen to."""

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


_AFTER_OURS: Final = 1.25
"""The kernel gives an agent up that takes nothing, later than we give up a client."""


def watch_peer(sock: socket.socket, user_timeout_s: float = 0) -> None:
    """Switch TCP keepalive on, and bound how long written data may go unacknowledged, if at all.

    The kernel's bound counts the time for which a peer's window cannot take the next segment,
    though the peer reads, and takes a part of it each time: so a client that reads slowly and
    steadily would be cut. What we write to clients is watched by `look` instead.

    Sockets that a listening socket accepts inherit its options. Platforms that
    lack one of them (macOS names some differently) do without it.
    """
    if sock.fileno() < 0:  # closed meanwhile
        return
    # uvloop's own kind of socket would make one of these for each option.
    own = socket.socket(sock.family, sock.type, sock.proto, sock.fileno())
    try:
        for option in _options(user_timeout_s):
            own.setsockopt(*option)
    finally:
        own.detach()


@functools.lru_cache(maxsize=8)
def _options(user_timeout_s: float) -> Sequence[tuple[int, int, int]]:
    """What is set, of what there is here: looked up once, and set on each connection."""
    wanted = [*_KEEPALIVE]
    if user_timeout_s:
        wanted.append(("TCP_USER_TIMEOUT", round(user_timeout_s * _AFTER_OURS * 1000)))
    there = [(name, value) for name, value in wanted if hasattr(socket, name)]
    return [
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *((socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in there),
    ]


_VANISHED_S: Final = 20.0
"""Nothing acknowledged for so long, the probes included: nobody is there."""

_INT: Final = struct.Struct("i")
_INFO: Final = struct.Struct("=2xBB20xI28xI60xQ16xI")
"""Where Linux keeps `tcpi_retransmits` and `tcpi_probes` (those that nothing answered),
`tcpi_unacked` (segments), `tcpi_last_ack_recv` (milliseconds), `tcpi_bytes_acked` and
`tcpi_notsent_bytes` in its `tcp_info`."""
_WAITING: Final = struct.Struct("=24xI")
"""Where it keeps `tcpi_unacked`, which of a listening socket is the length of its queue."""


class Seen(NamedTuple):
    """What the kernel knows of a peer."""

    vanishes_in_s: float
    """When it will have been silent for too long, unless it is heard again; less than 0: it has.

    The kernel alone would take far longer where a keepalive of ours goes out after the peer
    vanished: what is written but not acknowledged ends its probing.
    """
    silent_s: float
    waits: bool
    """Whether the kernel has bytes that the peer has not acknowledged."""
    acked_bytes: int
    """All that it ever acknowledged."""
    is_asked: bool
    """Whether the kernel asked it for a sign, again or of its closed window, and had none yet."""


def look(transport: asyncio.Transport) -> Seen | None:
    """Look at the peer of a connection; None if the kernel does not tell."""
    told = _option(transport, "TCP_INFO", _INFO)
    if told is None:
        return None
    again, probes, unacked, silent_ms, acked_bytes, unsent_bytes = told
    silent_s = silent_ms / 1000
    waits, is_asked = bool(unacked or unsent_bytes), bool(again or probes)
    return Seen(_VANISHED_S - silent_s, silent_s, waits, acked_bytes, is_asked)


def cut(transport: asyncio.Transport) -> None:
    """Reset a connection: what its peer did not take is thrown away, here and in the kernel.

    An orderly close would leave it to the kernel, which keeps it for minutes.
    """
    sock: socket.socket | None = transport.get_extra_info("socket")
    if sock is not None:
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()


_AT_ONCE: Final = struct.pack("ii", 1, 0)


def waiting_connections(listening: socket.socket) -> int:
    """How many connections the kernel has made that were not accepted yet; 0 if it does not say."""
    option = getattr(socket, "TCP_INFO", None)
    if option is None:
        return 0
    told = listening.getsockopt(socket.IPPROTO_TCP, option, _WAITING.size)
    return int(_WAITING.unpack(told)[0]) if len(told) == _WAITING.size else 0


def _option(transport: asyncio.Transport, name: str, kind: struct.Struct) -> tuple[int, ...] | None:
    """Numbers that the kernel has on a TCP socket; None if it does not say."""
    sock: socket.socket | None = transport.get_extra_info("socket")
    option = getattr(socket, name, None)
    if sock is None or option is None:
        return None
    try:
        told = sock.getsockopt(socket.IPPROTO_TCP, option, kind.size)
    except OSError:  # closed meanwhile
        return None
    return kind.unpack(told) if len(told) == kind.size else None


_FIRST_LOOK_S: Final = 0.05
"""Longer than most clients take to acknowledge the end of an answer."""
_LAST_LOOK_S: Final = 1.0
"""Between two looks at a client that has much to take; each is twice as late as the one before."""


class ClientSocket:
    """What ASGI has no words for: how much a client has not taken yet, and cutting it off.

    It also tells of a client's end without the task that waits for ASGI's word of it.
    """

    __slots__ = (
        "_has_all",
        "_is_gone",
        "_on_gone",
        "_on_taken",
        "_transport",
        "is_closing",
        "is_heard",
        "is_lost",
        "stalled",
    )

    def __init__(self, transport: asyncio.Transport) -> None:
        self.stalled = False
        """Whether it was cut, because it took nothing for too long."""
        self.is_heard = False
        """Whether its request is whole, so that nothing is to come from it but its end."""
        self.is_closing = False
        """Whether the connection ends as soon as it has taken everything."""
        self.is_lost = False
        """Of one that is gone: whether it never had all of its answer."""
        self._transport = transport
        self._has_all = False
        """Whether all of its answer was written, and acknowledged."""
        self._is_gone = False
        self._on_gone: Callable[[], object] | None = None
        self._on_taken: list[Callable[[], object]] | None = None

    def watch(self, on_gone: Callable[[], object] | None) -> None:
        """Have this called when the client is gone, soon if it is already; None: nobody."""
        self._on_gone = on_gone
        if self._is_gone and on_gone is not None:
            asyncio.get_running_loop().call_soon(self.gone)

    def _misses(self) -> bool:
        """Whether there is anything that the client has not acknowledged."""
        self._has_all = self._has_all or not self.unsent_bytes()
        return not self._has_all

    def lost(self, *, is_answered: bool) -> None:
        """The client's connection is closed, perhaps before all of its answer was written."""
        self.is_lost = not is_answered or self._misses()

    def gone(self) -> None:
        """The same, and all else that is to be done about it is."""
        self._is_gone = True
        tell, self._on_gone = self._on_gone, None
        if tell is not None:
            tell()
        self._tell_taken()

    def when_taken(self, tell: Callable[[], object]) -> None:
        """Tell when the client has acknowledged all that was written; or never will, and is gone.

        At once where it has, which is so of most. Nothing is written after this.
        """
        if self._on_taken is None and (self._is_gone or not self._misses()):
            tell()
            return
        # What is logged then is of whoever waits now.
        later = functools.partial(contextvars.copy_context().run, tell)
        if self._on_taken is not None:
            self._on_taken.append(later)
        else:
            self._on_taken = [later]
            self._look_in(_FIRST_LOOK_S)

    @property
    def is_waited_for(self) -> bool:
        """Whether somebody waits for it to take what was written. Looks once more, if so."""
        if self._on_taken is not None and not self._misses():
            self._tell_taken()
        return self._on_taken is not None

    def _look_in(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self._look, seconds)

    def _look(self, seconds: float) -> None:
        if self.is_waited_for:
            self._look_in(min(2 * seconds, _LAST_LOOK_S))

    def _tell_taken(self) -> None:
        tell_all, self._on_taken = self._on_taken, None
        for tell in tell_all or ():
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
        cut(self._transport)
