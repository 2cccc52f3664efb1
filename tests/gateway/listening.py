"""A server of a test's own, on a port that nobody else has."""

import asyncio
import socket
import ssl
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Listening(ABC):
    """`async with` it: whoever connects to `port` is conversed with."""

    port: int
    tls: ssl.SSLContext | None = None
    receive_buffer: int | None = None
    """How much the kernel takes of what is not read, in bytes; None: as much as it likes."""

    async def __aenter__(self) -> Self:
        sock = socket.socket()
        if self.receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.receive_buffer)
        sock.bind(("127.0.0.1", 0))
        self._server = await asyncio.start_server(self._converse, sock=sock, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    @abstractmethod
    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None: ...
