"""An HTTP server that answers each request with exact bytes, cuts and pauses as a script says."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from httpx import Response

from gateway.clients import ask, new_client
from gateway.listening import Listening
from gateway.running import Gateway
from gateway.tokens import bearer
from gateway.waiting import closed, until
from support.http_dialect import HttpDialect
from turnwire.relay.agent.http.pool import Pool


class Asked:
    """One request, and the way to answer it."""

    def __init__(
        self,
        head: bytes,
        connection: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.head = head
        self.body = b""
        self.connection = connection
        """The number of the connection that the request came on, from 0."""
        self._reader = reader
        self._writer = writer

    @property
    def line(self) -> str:
        return self.head.decode().partition("\r\n")[0]

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode().split("\r\n")[1:-2]
        return dict(line.split(": ", 1) for line in lines)

    async def say(self, *data: bytes) -> None:
        """Write each of these by itself."""
        for one in data:
            self._writer.write(one)
            await self._writer.drain()

    async def drip(self, data: bytes) -> None:
        """Write byte by byte, each in a round of its own."""
        for at in range(len(data)):
            await self.say(data[at : at + 1])
            await asyncio.sleep(0)

    def close(self) -> None:
        """Close in order."""
        self._writer.close()

    def half_close(self) -> None:
        self._writer.write_eof()

    def reset(self) -> None:
        self._writer.transport.abort()

    async def is_left(self) -> None:
        """Read on, and wait until the gateway has closed the connection."""
        while await self._reader.read(65_536):
            pass


Script = Callable[[Asked], Awaitable[None]]


def answers(response: bytes) -> Script:
    """A script that answers each request with this response."""

    async def script(asked: Asked) -> None:
        await asked.say(response)

    return script


class HttpAgent(Listening):
    """Runs the script for each request. Connections stay open between requests."""

    def __init__(
        self, script: Script, *, reads_body: bool = True, tls: ssl.SSLContext | None = None
    ) -> None:
        self.tls = tls
        self.receive_buffer = 65_536
        self._script = script
        self.reads_body = reads_body
        self.requests: list[Asked] = []
        self.connections = 0
        self.open = 0
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def url(self) -> str:
        origin = "http://127.0.0.1" if self.tls is None else "https://localhost"
        return f"{origin}:{self.port}/api/{{session_id}}"

    async def all_left(self) -> None:
        await until(lambda: self.open == 0)

    def stop_listening(self) -> None:
        self._server.close()

    def close_all(self) -> None:
        """Close all connections in order, also those that are idle."""
        for writer in self._writers:
            writer.close()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for writer in self._writers:
            writer.transport.abort()
        await super().__aexit__(kind, error, traceback)
        await closed(self.port)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = self.connections
        self.connections += 1
        self.open += 1
        self._writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                asked = Asked(head, number, reader, writer)
                size = int(asked.headers.get("content-length", "0"))
                if self.reads_body:
                    asked.body = await reader.readexactly(size)
                self.requests.append(asked)
                await self._script(asked)
                if writer.is_closing():
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()


def gateway_of(agent: HttpAgent, **more: Any) -> Gateway:
    return Gateway(agent.url, dialect=HttpDialect.name, **more)


def pool_of(gateway: Gateway) -> Pool:
    """The connections that the gateway keeps."""
    endpoint: Any = gateway.app.routes[0]
    pool = endpoint.endpoint.app_context.transport._pool
    assert isinstance(pool, Pool)
    return pool


LONG_TEXT = "A" * 11_000_000
"""More than the kernel takes for an agent that does not read."""
LONG_PROMPT: dict[str, object] = {
    "id": "m1",
    "role": "user",
    "parts": [
        {"type": "text", "text": "look"},
        {
            "type": "file",
            "mediaType": "image/png",
            "url": f"data:image/png;base64,iVBORw0KGgoAAAANSUhEUg{LONG_TEXT}AA",
        },
    ],
}


async def post_long(gateway: Gateway) -> Response:
    async with new_client() as client:
        return await client.post(
            f"{gateway.url}/api/sessions/s1/chat",
            json=ask() | {"messages": [LONG_PROMPT]},
            headers=bearer(),
        )
