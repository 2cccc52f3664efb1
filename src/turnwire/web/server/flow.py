"""The transport of a connection beside uvicorn's: flow control, and a close that waits."""

import asyncio

from uvicorn.protocols.http.flow_control import FlowControl

from turnwire.relay.tcp import ClientSocket


class Flow(FlowControl):
    """Flow control whose event exists only while writing is paused: an event takes 900 bytes."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.read_paused = self.write_paused = False
        self._is_held = False
        """Whether reading stays paused, although uvicorn resumes it: bytes are still unparsed."""
        self._can_write: asyncio.Event | None = None

    async def drain(self) -> None:
        if self._can_write is not None:
            await self._can_write.wait()

    def hold(self, *, is_held: bool) -> None:
        self._is_held = is_held
        if is_held:
            self._transport.pause_reading()
        elif not self.read_paused and not self._transport.is_closing():
            self._transport.resume_reading()

    def resume_reading(self) -> None:
        if self._is_held:
            self.read_paused = False
        else:
            super().resume_reading()

    def pause_writing(self) -> None:
        self.write_paused = True
        self._can_write = self._can_write or asyncio.Event()

    def resume_writing(self) -> None:
        self.write_paused = False
        if self._can_write is not None:
            self._can_write.set()
            self._can_write = None


class ClosingTransport:
    """The transport of a response after which the connection ends.

    `close` closes the transport after the client has acknowledged all bytes: after a close it is
    not possible to find out whether the client has them.
    """

    __slots__ = ("_client", "_transport", "is_closing", "write")

    def __init__(self, transport: asyncio.Transport, client: ClientSocket) -> None:
        self._transport = transport
        self._client = client
        self.write = transport.write
        self.is_closing = transport.is_closing

    def close(self) -> None:
        self._client.is_closing = True
        self._client.when_acked(self._transport.close)
