"""The server as a process has it: where it listens, and how it ends."""

import asyncio
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Final

import uvicorn

from turnwire_agent.access.access import Access, is_loopback
from turnwire_agent.generate.app import Served, app
from turnwire_agent.llm.call.stream import CallSettings

CALLS_MAX: Final = 1000
"""More at one time are refused with 503."""
STOPPING_S: Final = 10
"""Answers that take longer are cut when the server stops."""
BACKLOG: Final = 1024
_LAST_PORT: Final = 65535


class CannotListenError(Exception):
    """The server does not start. The text is one line."""


def listener(where: str, *, has_token: bool) -> tuple[socket.socket, bool]:
    """Listen at `HOST:PORT`; a port of 0 is any free one.

    Returns:
        The socket, and whether this machine alone reaches it.

    Raises:
        CannotListenError: The address is none, it is taken, or others reach it and no token is
            asked of them.
    """
    host, colon, port = where.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (host and colon and port.isascii() and port.isdecimal() and int(port) <= _LAST_PORT):
        raise CannotListenError(f"{where!r} is not HOST:PORT, as 127.0.0.1:8790")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise CannotListenError(f"the host {host!r} is unknown") from None
    loopback = is_loopback(str(address[0]))
    if not loopback and not has_token:
        ways = "--token-file or --token-jwks"
        raise CannotListenError(f"others than this machine reach {where}: give {ways}")
    try:
        listening = socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        raise CannotListenError(f"cannot listen at {where}: {error.strerror}") from None
    return listening, loopback


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
