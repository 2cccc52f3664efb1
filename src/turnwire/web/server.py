"""The server that we start, so that nothing of it needs patching."""

import asyncio
import functools
import itertools
import socket
from contextlib import suppress
from types import FrameType
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from turnwire.relay.rounds import Rounds
from turnwire.relay.sockets import waiting_connections, watch_peer
from turnwire.relay.streams import Streams
from turnwire.settings import Settings
from turnwire.web.body import Answering
from turnwire.web.health import Health
from turnwire.web.http import HttpConnection
from turnwire.web.memory import settle

_BACKLOG: Final = 2048
FAREWELL_S: Final = 5.0
"""On top of the drain time and the stall time: for the last bytes of the last streams."""
_IDLE_S: Final = 75
"""For connections between two requests: longer than proxies and HTTP clients keep theirs.

Whoever ends one first must not be the server, or a prompt that is on its way is lost.
"""


_ARRIVING_S: Final = 0.25
"""For requests on connections that were accepted just before the listener closed."""

_ROUNDS: Final = 3
"""Of the loop, in which it makes something of a connection that it has accepted."""

_TICK_S: Final = 0.1
"""As uvicorn has it."""
_LOOK_TICKS: Final = 10
"""How often it is looked for clients that vanished, or do not read."""


class DrainingServer(uvicorn.Server):
    """Asked to stop, it says "not ready" for the lame-duck time, then lets open turns finish.

    uvicorn closes the listener and waits for open responses by itself; what it
    lacks is somebody to tell the streams. A second signal ends the lame-duck time, SIGINT the
    wait for the streams too.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        health: Health,
        streams: Streams,
        lameduck_s: float,
        stall_s: float,
    ) -> None:
        super().__init__(config)
        self._health = health
        self._streams = streams
        self._lameduck_s = lameduck_s
        self._stall_s = stall_s
        self._hurry = asyncio.Event()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit:
            self._hurry.set()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        settle()

    async def on_tick(self, counter: int) -> bool:
        if counter % _LOOK_TICKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, HttpConnection):
                    connection.look(now, self._stall_s)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._health.stop()
        ticking = asyncio.create_task(self._tick())
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._lameduck_s):
                    await self._hurry.wait()
            await self._close_the_door(sockets or [])
            self._streams.drain()
            await super().shutdown(sockets)
        finally:
            ticking.cancel()
            with suppress(asyncio.CancelledError):
                await ticking  # what it raised is not to be lost
        if self.force_exit:  # which uvicorn takes for leave to let the application hang
            await self.lifespan.shutdown()

    async def _tick(self) -> None:
        """Go on with what uvicorn stops doing as soon as it is asked to stop."""
        for counter in itertools.count():
            await self.on_tick(counter)
            await asyncio.sleep(_TICK_S)

    async def _close_the_door(self, sockets: list[socket.socket]) -> None:
        """Accept nothing new, and give what was accepted time to say what it came for.

        uvicorn would close a connection whose request it has not read yet, and a proxy
        may not send that request, once written, to another gateway. Nor may the kernel reset
        those that it has made and nobody accepted, as it does when their listener closes.
        """
        empty = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(_ARRIVING_S):
                while empty < _ROUNDS:
                    empty = 0 if any(map(waiting_connections, sockets)) else empty + 1
                    await asyncio.sleep(0)
        for server in self.servers:
            server.close()
        for sock in sockets:
            sock.close()
        await asyncio.sleep(_ARRIVING_S)


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A listening socket whose accepted sockets notice a peer that vanished.

    Several `shared` ones may listen on one port; the kernel deals connections out among them.

    Raises:
        OSError: the address cannot be listened on.

    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named, or asyncio would not switch Nagle's algorithm off on what it accepts.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        watch_peer(sock)
        sock.bind((host, port))
        sock.listen(_BACKLOG)  # only this tells that nobody else listens there
    except OSError:
        sock.close()
        raise
    except TypeError as exc:  # of a name that cannot even be spelled
        sock.close()
        raise socket.gaierror(socket.EAI_NONAME, "no such name") from exc
    return sock


def new_server(
    app: ASGIApp, settings: Settings, *, health: Health, streams: Streams, rounds: Rounds
) -> DrainingServer:
    """The server, not yet listening; run it with a socket of `listen`.

    `rounds` are those of all who have much to do on its event loop.
    """
    wait_s = settings.drain_s + settings.stall_s + FAREWELL_S
    config = uvicorn.Config(
        Answering(app),
        interface="asgi3",
        http=functools.partial(HttpConnection, rounds=rounds),  # type: ignore[arg-type]  # called
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
