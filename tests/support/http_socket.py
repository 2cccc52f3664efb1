"""An `HttpSocket` above a transport in memory, and one above a real pair of sockets."""

import asyncio
import math
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from turnwire.relay.agent.http.socket import HttpSocket


class MemorySocket(asyncio.Transport):
    """Keeps what is written. More than `takes` bytes wait until `take_all`."""

    def __init__(self, takes: float = math.inf) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.socket = HttpSocket()
        self._room = takes
        self._waiting = 0
        self._is_closing = False
        self.socket._transport = self

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))
        self._room -= len(data)
        if self._room < 0:
            self._waiting = -int(self._room)
            self.socket.pause_writing()

    def take_all(self) -> None:
        self._room, self._waiting = math.inf, 0
        self.socket.resume_writing()

    def get_write_buffer_size(self) -> int:
        return self._waiting

    def is_closing(self) -> bool:
        return self._is_closing

    def abort(self) -> None:
        self._is_closing = True


@asynccontextmanager
async def real_pair() -> AsyncIterator[tuple[HttpSocket, socket.socket]]:
    """An open `HttpSocket`, and the other end of its connection."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)  # noqa: FBT003 (the library's)
    loop = asyncio.get_running_loop()
    transport, made = await loop.create_connection(HttpSocket, sock=ours)
    try:
        yield made, theirs
    finally:
        transport.abort()
        theirs.close()
        await asyncio.sleep(0)
