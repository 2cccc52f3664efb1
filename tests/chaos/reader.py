"""A client without an HTTP library: it keeps what came, even of an answer that breaks off."""

import asyncio
import socket
from types import TracebackType
from typing import Final, Self

from gateway.waiting import PATIENCE_S, until

_LAST: Final = b"\r\n0\r\n\r\n"
"""The mark of a body's end."""


class Reader:
    """`async with Reader(port) as client:` reads along from the start."""

    def __init__(
        self, port: int, *, host: str = "127.0.0.1", sock: socket.socket | None = None
    ) -> None:
        self.heard = bytearray()
        """The head, and the body in its chunks, as they came over the wire."""
        self._sock = socket.socket() if sock is None else sock
        self._address = (host, port)

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    @property
    def is_over(self) -> bool:
        return self._reading.done() or self.heard.endswith(_LAST)

    @property
    def is_closed(self) -> bool:
        return self._reading.done()

    @property
    def reading(self) -> asyncio.Task[None]:
        """Is done when the connection is closed."""
        return self._reading

    async def sees(self, data: bytes) -> None:
        await until(lambda: data in self.heard)

    async def sees_or_ends(self, data: bytes) -> None:
        await until(lambda: data in self.heard or self.is_over)

    async def ends(self, within_s: float = PATIENCE_S) -> None:
        """Wait until the response is over, or the connection."""
        await until(lambda: self.is_over, within_s)

    @property
    def status(self) -> int:
        return int(self.heard.split(b" ", 2)[1])

    @property
    def body(self) -> bytes:
        """The body so far, without the marks of its chunks."""
        body, at = bytearray(), self.heard.find(b"\r\n\r\n") + 4
        while (end := self.heard.find(b"\r\n", at)) > at > 4:
            length = int(self.heard[at:end], 16)
            body += self.heard[end + 2 : end + 2 + length]
            at = end + 2 + length + 2
        return bytes(body)

    async def __aenter__(self) -> Self:
        self._sock.setblocking(False)  # noqa: FBT003 (the library's signature)
        await asyncio.get_running_loop().sock_connect(self._sock, self._address)
        reader, self._writer = await asyncio.open_connection(sock=self._sock)
        self._reading = asyncio.create_task(self._read(reader))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._writer.transport.abort()
        await asyncio.wait([self._reading])

    def stop_reading(self) -> None:
        """From here on the socket fills, once asyncio has its fill."""
        self._reading.cancel()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        try:
            while data := await reader.read(65_536):
                self.heard += data
        except OSError:
            pass  # a reset ends it too
