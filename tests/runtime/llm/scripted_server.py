"""A server on loopback that answers each request as it is told, byte by byte."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

Script = Callable[["Connection"], Awaitable[bool]]
"""How one request is answered. It says whether the connection stays for another."""


@dataclass
class Asked:
    """A request."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Connection:
    """What a script has in its hands."""

    writer: asyncio.StreamWriter
    reader: asyncio.StreamReader

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
            await self.writer.drain()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def until_gone(self) -> None:
        """Say nothing until the client hangs up."""
        while await self.reader.read(65536):
            pass


@dataclass
class ScriptedServer:
    """Answers the first request with the first script, and so on; any more with the last."""

    scripts: list[Script]
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """A client closed its connection."""
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._tasks: set[asyncio.Task[None]] = set()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        connection = Connection(writer, reader)
        try:
            while await self._answer(connection):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        except asyncio.CancelledError:  # the test is over; a stream's callback would complain
            return
        finally:
            writer.close()

    async def _answer(self, connection: Connection) -> bool:
        """Whether the connection lasts."""
        reader = connection.reader
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            self.hung_up.set()
            return False
        line, *fields = head.split("\r\n")[:-2]
        headers = {
            name.lower(): value for name, _, value in (each.partition(": ") for each in fields)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        script = self.scripts[min(len(self.asked), len(self.scripts) - 1)]
        self.asked.append(Asked(line, headers, body))
        self.was_asked.set()
        return await script(connection)


def sends(*pieces: bytes, stay: bool = False) -> Script:
    """Send bytes, and close the connection."""

    async def script(connection: Connection) -> bool:
        await connection.send(*pieces)
        return stay

    return script


def sends_then_silent(*pieces: bytes) -> Script:
    """Send bytes, and nothing more."""

    async def script(connection: Connection) -> bool:
        await connection.send(*pieces)
        await connection.until_gone()
        raise ConnectionResetError

    return script


def head(status: int = 200, headers: Mapping[str, str] | None = None) -> bytes:
    """A head without a length: the body ends with the connection."""
    lines = [f"HTTP/1.1 {status} Whatever"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def response(status: int, body: object = b"", **headers: str) -> bytes:
    """A whole response, the last of its connection. A body that is no bytes is JSON.

    `_` in a header's name is `-`.
    """
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    length = {"content-length": str(len(data)), "connection": "close"}
    return head(status, length | fields) + data


EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8"}
STREAM_HEAD = head(200, EVENT_STREAM)
CHUNKED_HEAD = head(200, {**EVENT_STREAM, "transfer-encoding": "chunked"})


def chunked(pieces: Iterable[bytes]) -> bytes:
    """A body in chunks, with its end."""
    return b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in pieces) + b"0\r\n\r\n"
