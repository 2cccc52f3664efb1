"""HTTP/1.1 on one connection, as plain as it can be, so that every byte of a response is ours."""

import asyncio
import enum
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import msgspec

HEAD_BYTES: Final = 65_536


class Framing(enum.Enum):
    """How a reader finds the end of a body."""

    CHUNKED = "chunked"
    LENGTH = "length"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked. Names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def input(self) -> Any:
        """The body as JSON; None if it is none."""
        try:
            return msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeError):
            return None


class Reader(asyncio.StreamReader):
    """Tells when the other side closed, without reading what it sent before."""

    def __init__(self) -> None:
        super().__init__(HEAD_BYTES, asyncio.get_running_loop())
        self.ended = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.ended.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.ended.set()


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection; None at its end."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        method, target, _ = first.split(" ")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await _read_body(reader, headers)
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
        return None
    return Request(method, target, headers, body)


async def _read_body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readline()
    return body


class Responder:
    """Writes one response: a head, pieces of a body, an end."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._framing = Framing.CLOSE

    async def head(
        self, status: int, headers: Mapping[str, str], framing: Framing, length: int | None = None
    ) -> None:
        """Send the head; `length` is what Content-Length says."""
        self._framing = framing
        phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else "Unknown"
        lines = [f"HTTP/1.1 {status} {phrase}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        match framing:
            case Framing.CHUNKED:
                lines.append("transfer-encoding: chunked")
            case Framing.LENGTH:
                lines.append(f"content-length: {length}")
            case Framing.CLOSE:
                lines.append("connection: close")
        await self._write("\r\n".join([*lines, "\r\n"]).encode("latin-1"))

    async def send(self, data: bytes) -> None:
        """Send a piece of the body; in chunked framing it is one chunk."""
        if self._framing is Framing.CHUNKED:
            data = b"%x\r\n%b\r\n" % (len(data), data)
        await self._write(data)

    async def end(self) -> None:
        """Mark the end of the body, as its framing does."""
        if self._framing is Framing.CHUNKED:
            await self._write(b"0\r\n\r\n")

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
