"""A socket to the agent's HTTP server. It carries one exchange after the other."""

import asyncio
import select
from typing import Protocol, cast

from turnwire.relay.agent.dialer import AgentSocket


class SocketUser(Protocol):
    """Who gets what happens to a socket: an exchange, or the pool that keeps the socket."""

    def data_received(self, data: bytes, /) -> None: ...

    def eof_received(self) -> None:
        """The server sends no more. The socket closes itself."""
        ...

    def connection_lost(self) -> None:
        """The socket is closed. Nothing is called after this."""
        ...

    def writing_resumed(self) -> None:
        """The kernel has taken all that was written."""
        ...


class HttpSocket(AgentSocket):
    """One TCP or TLS connection, from its dial to its end.

    All that the kernel does not take at once pauses the writing, so that the caller keeps the rest
    of a long request, and knows that it is not sent.
    """

    def __init__(self) -> None:
        self.user: SocketUser | None = None
        self.is_reused = False
        """Whether an exchange before this one was carried."""
        self.is_write_paused = False
        """Whether the kernel has not taken all that was written."""
        self._transport: asyncio.Transport | None = None
        self._poll: select.poll | None = None
        """Made for the first look, and kept: a socket has its number until it is closed."""
        self._is_aborted = False
        self.made_at = 0.0
        """When the connection was made, in seconds on the loop's clock."""

    @property
    def is_closing(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    @property
    def is_silent(self) -> bool:
        """Whether the socket is open, and nothing came that was not read: no end, no byte.

        The kernel is asked, since the loop may not have read yet what came.
        """
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
        return not self._poll.poll(0)

    @property
    def unwritten_bytes(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def write(self, data: bytes | memoryview) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def set_reading(self, *, is_reading: bool) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if is_reading:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def cut(self) -> None:
        """Close at once. The user of the socket hears of it."""
        if self._transport is not None:
            self._transport.abort()

    def abort(self) -> None:
        self.user = None
        self._is_aborted = True
        self.cut()

    # Callbacks of the loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, not a check: uvloop's transports are not subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        if self._is_aborted:
            self._transport.abort()
            return
        self.made_at = asyncio.get_running_loop().time()
        # TLS pauses at the limit, and not only above it.
        is_tls = self._transport.get_extra_info("ssl_object") is not None
        self._transport.set_write_buffer_limits(high=1 if is_tls else 0, low=0)

    def data_received(self, data: bytes) -> None:
        if self.user is not None:
            self.user.data_received(data)
        else:  # the server speaks before it is asked
            self.cut()

    def eof_received(self) -> None:
        if self.user is not None:
            self.user.eof_received()

    def connection_lost(self, _exc: Exception | None) -> None:
        user, self.user = self.user, None
        if user is not None:
            user.connection_lost()

    def pause_writing(self) -> None:
        self.is_write_paused = True

    def resume_writing(self) -> None:
        self.is_write_paused = False
        if self.user is not None:
            self.user.writing_resumed()
