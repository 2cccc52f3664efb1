"""A TCP proxy before a real server that breaks one connection, the n-th; all others it carries."""

import asyncio
import contextlib
import enum
import socket
from typing import Any, Final

from gateway.listening import Listening

_HEAD: Final = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n"


class How(enum.Enum):
    RESET = "reset, when the request was read"
    CLOSED = "closed without an answer"
    RUBBISH = "answered with what is no HTTP"
    HALF = "answered with half of a body"
    GARBLED = "answered with what is no gzip"
    SILENT = "not answered"
    GONE = "refused, as all after it"


_SAYS: Final = {
    How.CLOSED: b"",
    How.RUBBISH: b"no protocol of ours\r\n\r\n",
    How.HALF: _HEAD + b"\r\nhalf",
    How.GARBLED: _HEAD + b"content-encoding: gzip\r\n\r\n" + b"x" * 100,
}


class Breaking(Listening):
    """`async with Breaking(gateway.port, at=3, how=How.RESET) as front:`."""

    def __init__(self, behind: int, *, at: int, how: How) -> None:
        self.connections = 0
        self._leaving = asyncio.Event()
        self._behind, self._at, self._how = behind, at, how

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aexit__(self, *why: Any) -> None:  # noqa: PYI036 (handed on)
        self._leaving.set()
        await super().__aexit__(*why)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self._how is How.GONE and self.connections + 1 == self._at:
            self._server.close()  # before the doctor has what it asked here
        try:
            if self.connections == self._at:
                await self._break(reader, writer)
            else:
                await self._carry(reader, writer)
        except OSError:
            pass
        finally:
            writer.close()

    async def _break(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(65_536)
        match self._how:
            case How.RESET:
                sock = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            case How.SILENT:
                await self._leaving.wait()
            case how:
                writer.write(_SAYS[how])
                await writer.drain()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, here = await asyncio.open_connection("127.0.0.1", self._behind)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pass_on(reader, here))
                group.create_task(_pass_on(there, writer))
        finally:
            here.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one end is over, which the other is told."""
    with contextlib.suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()
