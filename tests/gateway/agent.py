"""A scripted agent: a real WebSocket server of which each connection runs one small script."""

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.protocol import State

from gateway import frames
from gateway.frames import Json
from gateway.waiting import closed, until


class LineClosedError(Exception):
    """The gateway left before it prompted."""


class Line:
    """One connection, as the agent sees it."""

    def __init__(self, connection: ServerConnection) -> None:
        request = connection.request
        assert request is not None
        self.path = request.path
        self.headers = request.headers
        self.heard: list[Json] = []
        self.heard_at: list[float] = []
        self.opened_at = asyncio.get_running_loop().time()
        self.closed_at: float | None = None
        self.connection = connection

    @property
    def closed(self) -> bool:
        return self.closed_at is not None

    @property
    def is_open(self) -> bool:
        """Whether something can still be said."""
        return self.connection.state is State.OPEN

    def of_type(self, kind: str) -> list[Json]:
        return [frame for frame in self.heard if frame["type"] == kind]

    @property
    def aborts(self) -> list[Json]:
        return self.of_type("abort")

    async def prompt(self) -> Json:
        """Wait for the prompt."""
        await until(lambda: self.closed or self.of_type("prompt"))
        if not self.of_type("prompt"):
            raise LineClosedError
        return self.of_type("prompt")[0]

    async def begin(self, turn: str = frames.TURN) -> None:
        """Take the prompt, and begin its turn."""
        prompt = await self.prompt()
        await self.say(frames.create(prompt["promptId"], turn))

    async def say(self, *said: Json) -> None:
        for frame in said:
            await self.connection.send(frames.text(frame))

    async def raw(self, data: bytes) -> None:
        """Write bytes behind the library's back."""
        self.connection.transport.write(data)
        while self.connection.transport.get_write_buffer_size() > 65_536:  # noqa: ASYNC110 (no event for it)
            await asyncio.sleep(0.001)

    def cut(self) -> None:
        self.connection.transport.abort()

    async def listen(self) -> None:
        with suppress(ConnectionClosed):
            async for message in self.connection:
                self.heard.append(json.loads(message))
                self.heard_at.append(asyncio.get_running_loop().time())
        self.closed_at = asyncio.get_running_loop().time()


Script = Callable[[Line], Awaitable[None]]


async def answer(line: Line) -> None:
    """A turn that ends well."""
    await line.begin()
    await line.say(frames.delta("Hello"), frames.delta(" world"), frames.finalize())


async def stay_silent(_: Line) -> None:
    """Take everything and say nothing."""


async def begin_only(line: Line) -> None:
    """Begin the turn, say one word, and then nothing more."""
    await line.begin()
    await line.say(frames.delta("Hello"))


class ScriptedAgent:
    """`async with ScriptedAgent(script) as agent:`; a line stays open after its script."""

    def __init__(
        self,
        script: Script = answer,
        *,
        status: int | None = None,
        tls: ssl.SSLContext | None = None,
        subprotocols: list[str] | None = None,
        compression: str | None = "deflate",
        host: str = "127.0.0.1",
        admits: asyncio.Event | None = None,
    ) -> None:
        """`admits`: no handshake is answered before it is set."""
        self.script = script
        self._admits = admits
        self.lines: list[Line] = []
        self.requests: list[Request] = []
        self.port = 0
        self.status = status
        self._tls = tls
        self._options: dict[str, Any] = {"subprotocols": subprotocols, "compression": compression}
        self._host = host

    def url(self, host: str | None = None) -> str:
        scheme = "ws" if self._tls is None else "wss"
        return f"{scheme}://{host or self._host}:{self.port}/api/sessions/{{session_id}}/ws"

    @property
    def connections(self) -> int:
        """Handshakes begun."""
        return len(self.requests)

    async def line(self, number: int = 0) -> Line:
        """Wait for that connection."""
        await until(lambda: len(self.lines) > number)
        return self.lines[number]

    async def __aenter__(self) -> Self:
        self._server: Server = await serve(
            self._converse,
            self._host,
            0,
            ssl=self._tls,
            process_request=self._admit,
            max_size=None,
            ping_interval=None,
            close_timeout=0.2,
            **self._options,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for line in self.lines:
            line.cut()
        self._server.close()
        await self._server.wait_closed()
        await closed(self.port)

    async def _converse(self, connection: ServerConnection) -> None:
        line = Line(connection)
        self.lines.append(line)
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(line.listen())
            with suppress(ConnectionClosed, LineClosedError):
                await self.script(line)
            await listening

    async def _admit(self, connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if self._admits is not None:
            await self._admits.wait()
        if self.status is None:
            return None
        response = connection.respond(HTTPStatus(self.status), "no\n")
        if self.status < 400:
            response.headers["location"] = f"ws://{self._host}:{self.port}/elsewhere"
        return response
