"""The uvicorn server of the gateway, as a subclass, so that uvicorn needs no patches.

`new_server` makes one, and `listen` makes the socket to run it with.
"""

import asyncio
import functools
import itertools
import socket
from contextlib import suppress
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from turnwire.config.settings import Settings
from turnwire.relay.registry import RequestRegistry
from turnwire.relay.rounds import Rounds
from turnwire.relay.tcp import waiting_connections, watch_peer
from turnwire.web.health import Health
from turnwire.web.server.accepting import Acceptor
from turnwire.web.server.http_protocol import HttpConnection
from turnwire.web.server.memory_tuning import tune_memory
from turnwire.web.server.response_body import ResponseBodyMiddleware

_BACKLOG: Final = 2048
LAST_BYTES_S: Final = 5.0
"""Added to the drain time and the stall time, for the last bytes of the last streams."""
_IDLE_S: Final = 75
"""How long a connection stays open between two requests: longer than proxies and HTTP clients do.

The client has to close it first. If the server did, it could lose a prompt that is being sent.
"""


_ARRIVING_S: Final = 0.25
"""Time for requests on connections that were accepted just before the listener closed."""

_EMPTY_ROUNDS: Final = 3
"""Rounds of the event loop without a waiting connection, after which the listener closes.

The loop needs them to make a protocol for a connection that it has accepted.
"""

_TICK_S: Final = 0.1
"""As in uvicorn."""
_CHECK_TICKS: Final = 10
"""Ticks between two checks for clients that vanished or do not read."""


class DrainingServer(uvicorn.Server):
    """On a stop signal reports "not ready" for the lame-duck time, then lets open turns finish.

    uvicorn itself closes the listener and waits for open responses. This class also starts the
    drain of the streams. A second signal ends the lame-duck time; a second SIGINT also ends the
    wait for the streams.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        health: Health,
        streams: RequestRegistry,
        lameduck_s: float,
        stall_s: float,
    ) -> None:
        super().__init__(config)
        self._health = health
        self._streams = streams
        self._lameduck_s = lameduck_s
        self._stall_s = stall_s
        self._second_signal = asyncio.Event()
        self._acceptor: Acceptor | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self._second_signal.set()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._acceptor = Acceptor(sockets or [], self.config.http_protocol_class)
        self.config.http_protocol_class = self._acceptor.protocol  # type: ignore[assignment]  # uvicorn calls it
        await super().startup(sockets)
        tune_memory()

    async def on_tick(self, counter: int) -> bool:
        if counter % _CHECK_TICKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, HttpConnection):
                    connection.check_client(now, self._stall_s)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._health.stop()
        ticks = asyncio.create_task(self._tick())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._lameduck_s):
                    await self._second_signal.wait()
            await self._close_listeners(sockets or [])
            self._streams.drain()
            await super().shutdown(sockets)
        finally:
            ticks.cancel()
            with suppress(asyncio.CancelledError):
                await ticks  # raises what the task raised
        if self.force_exit:  # uvicorn skips this then, and the application would not shut down
            await self.lifespan.shutdown()

    async def _tick(self) -> None:
        """Go on with the ticks during shutdown: uvicorn ends its own at the stop signal."""
        for counter in itertools.count():
            await self.on_tick(counter)
            await asyncio.sleep(_TICK_S)

    async def _close_listeners(self, sockets: list[socket.socket]) -> None:
        """Accept the waiting connections, close the listeners, and wait for late requests.

        uvicorn would close a connection whose request it has not read yet; a proxy that has
        written the request may not send it to another gateway. The kernel resets connections
        that wait to be accepted when their listener closes, so they are accepted first.
        """
        empty_rounds = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(_ARRIVING_S):
                while empty_rounds < _EMPTY_ROUNDS:
                    empty_rounds = 0 if any(map(waiting_connections, sockets)) else empty_rounds + 1
                    await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        for sock in sockets:
            sock.close()
        if self._acceptor is not None:
            await self._acceptor.settled()
        await asyncio.sleep(_ARRIVING_S)


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listening socket. Sockets that it accepts notice a peer that vanished.

    Several `shared` sockets can listen on one port; the kernel distributes connections to them.

    Raises:
        OSError: it is not possible to listen on the address.

    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With an explicit protocol, or asyncio would leave Nagle's algorithm on in accepted sockets.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        watch_peer(sock)
        sock.bind((host, port))
        sock.listen(_BACKLOG)  # fails if another socket listens there
    except OSError:
        sock.close()
        raise
    except TypeError as exc:  # a host name that cannot be encoded
        sock.close()
        raise socket.gaierror(socket.EAI_NONAME, "no such name") from exc
    return sock


def new_server(
    app: ASGIApp, settings: Settings, *, health: Health, streams: RequestRegistry, rounds: Rounds
) -> DrainingServer:
    """The server, not yet listening; run it with a socket of `listen`.

    `rounds` is the queue of long work on the event loop, which all connections share.
    """
    wait_s = settings.drain_s + settings.stall_s + LAST_BYTES_S
    config = uvicorn.Config(
        ResponseBodyMiddleware(app),
        interface="asgi3",
        http=functools.partial(HttpConnection, rounds=rounds),  # type: ignore[arg-type]  # uvicorn calls it
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=int(wait_s) + 1,
    )
    return DrainingServer(
        config,
        health=health,
        streams=streams,
        lameduck_s=settings.lameduck_s,
        stall_s=settings.stall_s,
    )
