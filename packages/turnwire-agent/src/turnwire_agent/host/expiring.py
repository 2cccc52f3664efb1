"""Sockets whose token has expired: they may stop a turn and see its end, and nothing more."""

import asyncio
import time
from collections.abc import Callable
from typing import Final

from websockets.asyncio.server import ServerConnection
from websockets.frames import CloseCode

from turnwire_agent.host.live_session import LiveSession

LOOK_S: Final = 5.0
"""How often it is looked for sockets that may be closed."""
EXPIRED: Final = "The token has expired"


class Expiring:
    """The open sockets whose token expires at some time."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._sockets: dict[ServerConnection, tuple[LiveSession, float]] = {}

    def add(self, socket: ServerConnection, live: LiveSession, expires_at: float) -> None:
        """A socket is open; its token is good until then, by Unix time."""
        self._sockets[socket] = (live, expires_at)

    def remove(self, socket: ServerConnection) -> None:
        """A socket is closed."""
        self._sockets.pop(socket, None)

    def has_expired(self, socket: ServerConnection) -> bool:
        """Whether the token of a socket is good no more."""
        found = self._sockets.get(socket)
        return found is not None and found[1] <= self._clock()

    async def run(self) -> None:
        """Close what has expired, again and again. A turn that runs is sent to its end."""
        while True:
            await asyncio.sleep(LOOK_S)
            closing = [
                socket
                for socket, (live, _) in self._sockets.items()
                if self.has_expired(socket) and live.state.running is None and not live.state.queue
            ]
            await asyncio.gather(
                *(socket.close(CloseCode.POLICY_VIOLATION, EXPIRED) for socket in closing)
            )
