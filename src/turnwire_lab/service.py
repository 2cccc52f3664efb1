"""How the servers of the lab start and end, alone or together on a stage."""

import asyncio
import socket
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from types import TracebackType
from typing import Final, Self

import uvicorn
from starlette.types import ASGIApp

from turnwire_lab.process import HOST

END_S: Final = 1
"""What open requests get when a server ends."""


class Service(ABC):
    """`async with` starts it, and ends in the opposite order whatever it started."""

    @abstractmethod
    async def _start(self, stack: AsyncExitStack) -> None:
        """Start all of it; what has to end goes onto the stack, also if the rest does not start."""

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            await self._start(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # The stack does not get the error: a task group in it would wrap the error in a group.
        await self._stack.aclose()


def listener(port: int) -> socket.socket:
    """On that port of loopback, or on any other if it is in use."""
    try:
        return socket.create_server((HOST, port))
    except OSError:
        return socket.create_server((HOST, 0))


@asynccontextmanager
async def serving(app: ASGIApp, listening: socket.socket) -> AsyncIterator[uvicorn.Server]:
    """Serve the application there until the block is left."""
    config = uvicorn.Config(
        app,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=END_S,
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve([listening]))
    try:
        yield server
    finally:
        server.should_exit = True
        with suppress(asyncio.CancelledError):
            await task


class _Server(uvicorn.Server):
    """Leaves signals to the program around it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
