"""The server as a process has it: where it listens, and how it ends."""

import asyncio
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

import uvicorn

from turnwire_agent.access.access import Access
from turnwire_agent.generate.app import Served, app
from turnwire_agent.llm.call.stream import CallSettings

CALLS_MAX: Final = 1000
"""More at one time are refused with 503."""
STOPPING_S: Final = 10
"""Answers that take longer are cut when the server stops."""


class _Server(uvicorn.Server):
    """Leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve(
    models: Mapping[str, Served],
    listening: socket.socket,
    access: Access,
    settings: CallSettings,
    stopping: asyncio.Event,
) -> None:
    """Answer until it is time to stop. Answers that run then have `STOPPING_S` seconds.

    Args:
        models: By the names that requests have.
        listening: Is closed at the end.
        access: Who may ask.
        settings: Of all calls.
        stopping: Says that it is time.
    """
    config = uvicorn.Config(
        app(models, access, settings),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CALLS_MAX,
        timeout_graceful_shutdown=STOPPING_S,
    )
    server = _Server(config)

    async def stop() -> None:
        await stopping.wait()
        server.should_exit = True

    with closing(listening):
        stopper = asyncio.create_task(stop())
        try:
            await server.serve(sockets=[listening])
        finally:
            stopper.cancel()
