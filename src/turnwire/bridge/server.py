"""The bridge: a WebSocket server on the loopback interface, and one process for each connection.

Each text frame is a line of the process's input, and each line of its output a text frame. A
connection whose process ends is closed, and a process whose connection ends is ended.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Final

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request, Response

from turnwire.bridge.access import refusal
from turnwire.bridge.process import AgentProcess, LineTooLongError, started

HOST: Final = "127.0.0.1"
"""The only address: an agent that runs commands is for its own machine."""


_CLOSE_S: Final = 2.0
"""How long a client may take to answer a close, in seconds."""

PING_S: Final = 20.0
"""How often a client is asked whether it is there, in seconds, and how long it may take to answer.

Nothing else tells that it left while its process reads nothing: it is not read then either.
"""


class Bridge:
    """`say` gets a line for each process that begins or ends, without what was said."""

    def __init__(
        self,
        command: Sequence[str],
        token: str,
        *,
        frame_bytes: int,
        connections_max: int,
        say: Callable[[str], object],
        ping_s: float = PING_S,
    ) -> None:
        self._command = command
        self._token = token
        self._frame_bytes = frame_bytes
        self._connections_max = connections_max
        self._say = say
        self._ping_s = ping_s
        self._connections = 0

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[int]:
        """Listen, and yield the port. In the end all connections and their processes end.

        Raises:
            OSError: the port cannot be listened on.

        """
        async with serve(
            self._serve,
            HOST,
            port,
            process_request=self._refuse,
            compression=None,
            close_timeout=_CLOSE_S,
            ping_interval=self._ping_s,
            ping_timeout=self._ping_s,
            max_size=self._frame_bytes,
            server_header=None,
        ) as server:
            yield next(iter(server.sockets)).getsockname()[1]

    def _refuse(self, connection: ServerConnection, request: Request) -> Response | None:
        status = refusal(self._token, request.headers.raw_items())
        if status is None and self._connections >= self._connections_max:
            status = HTTPStatus.SERVICE_UNAVAILABLE
        return None if status is None else connection.respond(status, f"{status.phrase}\n")

    async def _serve(self, connection: ServerConnection) -> None:
        if self._connections >= self._connections_max:  # several were let in at one moment
            await connection.close(CloseCode.TRY_AGAIN_LATER)
            return
        self._connections += 1
        try:
            async with started(self._command, self._frame_bytes) as agent:
                self._say(f"process {agent.pid} began")
                code = await _carry(connection, agent)
            await connection.close(code)
        except OSError as exc:
            self._say(f"a process cannot be started: {exc.strerror}")
            await connection.close(CloseCode.INTERNAL_ERROR)
        else:
            self._say(f"process {agent.pid} ended")
        finally:
            self._connections -= 1


async def _carry(connection: ServerConnection, agent: AgentProcess) -> CloseCode:
    """Carry messages both ways until one side ends. Returns the code that closes the connection."""
    ways = [
        asyncio.create_task(_to_agent(connection, agent)),
        asyncio.create_task(_from_agent(connection, agent)),
        asyncio.create_task(_lost(connection)),  # a write to a process that reads nothing waits
    ]
    try:
        done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)


async def _to_agent(connection: ServerConnection, agent: AgentProcess) -> CloseCode:
    try:
        async for message in connection:
            if not isinstance(message, str):
                return CloseCode.UNSUPPORTED_DATA
            await agent.send(message)
    except (ConnectionClosed, ConnectionError):  # it is lost, or the process reads no more
        pass
    return CloseCode.NORMAL_CLOSURE


async def _lost(connection: ServerConnection) -> CloseCode:
    await connection.wait_closed()
    return CloseCode.NORMAL_CLOSURE


async def _from_agent(connection: ServerConnection, agent: AgentProcess) -> CloseCode:
    try:
        async for line in agent.lines():
            await connection.send(line)
    except LineTooLongError:
        return CloseCode.MESSAGE_TOO_BIG
    except UnicodeDecodeError:
        return CloseCode.INVALID_DATA
    except ConnectionClosed:
        pass
    return CloseCode.NORMAL_CLOSURE
