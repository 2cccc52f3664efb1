"""What the sockets to the agent carry besides frames: when bytes come, and the answers to pings.

A transport does not tell this, since a gateway needs none of it. So the dialler puts a
`_WatchedSocket` between each socket and its transport.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar, cast
from uuid import uuid4

from turnwire.relay.agent.dialer import Address, AgentSocket, Dialler

TIMES_MAX: Final = 100_000
"""Reads whose times are kept."""
_PING: Final = 0x89
_PONG: Final = 0x8A
_MASKED: Final = 0x80
_NO_MASK: Final = bytes(4)

Socket = TypeVar("Socket", bound=AgentSocket)


class Ping:
    """A ping of a WebSocket, and whether its pong came. Times are the loop's, in seconds."""

    def __init__(self) -> None:
        self.payload = uuid4().hex.encode()
        self.sent_at = asyncio.get_running_loop().time()
        self.answered_at: float | None = None
        self._answered = asyncio.Event()

    @property
    def frame(self) -> bytes:
        """The ping as a client sends it: masked, by zeros."""
        return bytes((_PING, _MASKED | len(self.payload))) + _NO_MASK + self.payload

    @property
    def pong(self) -> bytes:
        """The frame that answers it."""
        return bytes((_PONG, len(self.payload))) + self.payload

    async def wait(self, within_s: float) -> None:
        """Wait until the pong is there, for so many seconds at most."""
        try:
            async with asyncio.timeout(within_s):
                await self._answered.wait()
        except TimeoutError:
            return

    def answer(self, now: float) -> None:
        self.answered_at = now
        self._answered.set()


class Traffic:
    """What came over all sockets to one agent."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=TIMES_MAX)
        self._newest: _WatchedSocket | None = None

    def longest_silence_s(self, since: float, until: float) -> float:
        """How long not one byte came, between two times of the loop's clock."""
        times = (at for at in self._times if since < at < until)
        return max(b - a for a, b in itertools.pairwise((since, *times, until)))

    def ping(self) -> Ping | None:
        """Send a ping on the WebSocket that was opened last. None: there is no open one."""
        return None if self._newest is None else self._newest.ping()

    def note(self, now: float) -> None:
        self._times.append(now)

    def opened(self, socket: "_WatchedSocket") -> None:
        self._newest = socket


class WatchedDialler(Dialler):
    """A dialler that notes the `traffic` of its sockets."""

    traffic: Traffic

    async def dial(self, address: Address, new_socket: Callable[[], Socket]) -> Socket:
        def watched() -> _WatchedSocket:
            return _WatchedSocket(new_socket(), self.traffic)

        socket = await super().dial(address, watched)
        return cast("Socket", socket.inner)


class _WatchedSocket(AgentSocket):
    """Passes all on to the socket of a transport."""

    def __init__(self, inner: AgentSocket, traffic: Traffic) -> None:
        self.inner = inner
        self._traffic = traffic
        self._transport: asyncio.Transport | None = None
        self._ping: Ping | None = None
        self._read = b""
        """The end of what was read since the ping: its pong may come in pieces."""

    def ping(self) -> Ping | None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return None
        self._ping, self._read = Ping(), b""
        transport.write(self._ping.frame)
        return self._ping

    def abort(self) -> None:
        self.inner.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # as uvloop's are, too
        self._traffic.opened(self)
        self.inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        now = asyncio.get_running_loop().time()
        ping = self._ping
        if ping is None or data != ping.pong:  # without our ping, there was none
            self._traffic.note(now)
        if ping is not None:
            read = self._read + data
            if ping.pong in read:
                ping.answer(now)
                self._ping = None
            self._read = read[1 - len(ping.pong) :]
        self.inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self.inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self.inner.connection_lost(exc)

    def pause_writing(self) -> None:
        self.inner.pause_writing()

    def resume_writing(self) -> None:
        self.inner.resume_writing()
