"""Sockets that are kept between two requests.

A socket is kept only after a complete response, and only for a short time: usual servers close an
idle connection after five seconds or more, and a request that meets their close may be lost. A
server that says by `Keep-Alive` when it closes is believed. While a socket is kept, whatever the
server sends ends it: no byte of it can reach the next request.
"""

import asyncio
from typing import Final

from msgspec import Struct

from turnwire.relay.agent.dialer import Address
from turnwire.relay.agent.http.response import BrokenResponseError, ResponseReader
from turnwire.relay.agent.http.socket import HttpSocket

IDLE_S: Final = 4.0
"""Longest time for which a socket is kept, in seconds."""

MARGIN_S: Final = 1.0
"""Seconds before the server's own close in which a socket is not used: a request takes its time."""

LIFETIME_S: Final = 60.0
"""Seconds after its dial from which a socket is kept no more: its name may lead elsewhere now."""

IDLE_MAX: Final = 100
"""Most sockets that are kept at once."""

REST_S: Final = 10.0
"""Longest wait for the end of a response after its turn ended, in seconds.

Agents often still work then, such as to store the conversation, and a close would cancel that.
"""

REST_BYTES: Final = 1_048_576
"""Most bytes that are read and dropped in that time."""

RESTS_MAX: Final = 100
"""Most sockets that wait for such an end at once. Beyond that, the oldest is closed."""


class HttpStats(Struct):
    """What the transport counts in a process. The metrics read it when they are collected."""

    kept: int = 0
    """Sockets that are kept for a next request now."""
    on_new: int = 0
    """Requests that were sent on a new socket."""
    on_kept: int = 0
    """Requests that were sent on a kept socket."""
    sent_again: int = 0
    """Those of them that were sent once more, on a new socket, as the kept one was dead."""
    late_heads: int = 0
    """Requests whose response had no head within `TURNWIRE_DIAL_S`, and that went on."""


class Pool:
    """The kept sockets of a process, the newest one taken first."""

    def __init__(self, stats: HttpStats) -> None:
        self._stats = stats
        self._idle: dict[Address, list[_Idle]] = {}
        self._rests: dict[_Rest, None] = {}  # an ordered set
        self._timer: asyncio.TimerHandle | None = None
        """One for all kept sockets, set for the first end of their times: under load, a socket is
        taken again long before its own."""

    def __len__(self) -> int:
        return self._stats.kept

    def take(self, address: Address) -> HttpSocket | None:
        """Return a socket to this address that is still open; None: there is none."""
        idle = self._idle.get(address)
        while idle:
            kept = idle[-1]
            self.forget(kept)
            if not kept.is_overdue and kept.socket.is_silent:
                kept.socket.user = None
                kept.socket.is_reused = True
                return kept.socket
            kept.socket.abort()
        return None

    def keep(self, address: Address, socket: HttpSocket, response: ResponseReader) -> None:
        """Keep a socket after a complete response, if both sides take another request on it."""
        head = response.head
        assert head is not None
        keep_s = min(IDLE_S, head.keep_alive_s - MARGIN_S)
        now = asyncio.get_running_loop().time()  # called once: in Python 3.11 it is a system call
        if (
            not response.is_reusable
            or keep_s <= 0
            or len(self) >= IDLE_MAX
            or socket.is_closing
            or now - socket.made_at > LIFETIME_S
        ):
            socket.abort()
            return
        idle = _Idle(self, address, socket, now + keep_s)
        self._stats.kept += 1
        self._idle.setdefault(address, []).append(idle)
        self._end_at(idle.until)

    def keep_after_rest(
        self, address: Address, socket: HttpSocket, response: ResponseReader
    ) -> None:
        """Keep a socket once its response is complete, of which nobody needs the rest."""
        if len(self._rests) >= RESTS_MAX:
            next(iter(self._rests)).end()
        self._rests[_Rest(self, address, socket, response)] = None

    def forget(self, idle: "_Idle") -> None:
        """Keep this socket no longer. It stays open."""
        self._stats.kept -= 1
        of_address = self._idle[idle.address]
        of_address.remove(idle)
        if not of_address:
            del self._idle[idle.address]

    def forget_rest(self, rest: "_Rest") -> None:
        self._rests.pop(rest, None)

    def close(self) -> None:
        """Close all sockets that no exchange has."""
        for idle in self._all_idle():
            idle.end()
        for rest in list(self._rests):
            rest.end()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _all_idle(self) -> "list[_Idle]":
        return [each for of_address in self._idle.values() for each in of_address]

    def _end_at(self, when: float) -> None:
        """Have the timer fire at this time of the loop, if it does not before."""
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._end_overdue)

    def _end_overdue(self) -> None:
        self._timer = None
        for idle in self._all_idle():
            if idle.is_overdue:
                idle.end()
            else:
                self._end_at(idle.until)


class _Idle:
    """A socket that waits for its next exchange, until a time of the loop."""

    __slots__ = ("_pool", "address", "socket", "until")

    def __init__(self, pool: Pool, address: Address, socket: HttpSocket, until: float) -> None:
        self._pool = pool
        self.until = until
        self.address = address
        self.socket = socket
        socket.user = self
        socket.set_reading(is_reading=True)

    @property
    def is_overdue(self) -> bool:
        """Whether its time is over, and its timer is late: the loop was busy."""
        return asyncio.get_running_loop().time() >= self.until

    def end(self) -> None:
        self._pool.forget(self)
        self.socket.abort()

    def data_received(self, _data: bytes) -> None:
        self.end()

    def eof_received(self) -> None:
        self.end()

    def connection_lost(self) -> None:
        self._pool.forget(self)

    def writing_resumed(self) -> None: ...


class _Rest:
    """A socket whose response nobody reads any more, until the response is complete."""

    __slots__ = ("_address", "_bytes", "_pool", "_response", "_socket", "_timer")

    def __init__(
        self, pool: Pool, address: Address, socket: HttpSocket, response: ResponseReader
    ) -> None:
        self._pool = pool
        self._address = address
        self._socket = socket
        self._response = response
        self._bytes = 0
        socket.user = self
        socket.set_reading(is_reading=True)
        self._timer = asyncio.get_running_loop().call_later(REST_S, self.end)

    def end(self) -> None:
        """Give up."""
        self._drop()
        self._socket.abort()

    def data_received(self, data: bytes) -> None:
        self._bytes += len(data)
        try:
            self._response.read(data)
        except BrokenResponseError:
            self.end()
            return
        if self._response.is_complete:
            self._drop()
            self._pool.keep(self._address, self._socket, self._response)
        elif self._bytes > REST_BYTES:
            self.end()

    def eof_received(self) -> None:
        self.end()

    def connection_lost(self) -> None:
        self._drop()

    def writing_resumed(self) -> None: ...

    def _drop(self) -> None:
        self._timer.cancel()
        self._response.close()
        self._pool.forget_rest(self)
