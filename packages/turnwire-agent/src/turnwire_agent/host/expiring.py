"""Sockets whose token has expired: they may stop a turn and see its end, and nothing more."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import WebSocketException
from websockets.frames import CloseCode

from turnwire_agent.host.live_session import LiveSession

LOOK_S: Final = 5.0
"""How often it is looked for sockets that may be closed."""
EXPIRED: Final = "The token has expired"
CLOSE_S: Final = 2.0
"""How long the closing of one socket may take: its peer may not read."""


@dataclass(slots=True)
class _Held:
    """A socket whose token expires."""

    live: LiveSession
    expires_at: float
    awaited: frozenset[str] | None = None
    """The prompts that ran or waited when it had expired. They are sent to their end."""


class Expiring:
    """The open sockets whose token expires at some time."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._sockets: dict[ServerConnection, _Held] = {}

    def add(self, socket: ServerConnection, live: LiveSession, expires_at: float) -> None:
        """A socket is open; its token is good until then, by Unix time."""
        self._sockets[socket] = _Held(live, expires_at)

    def remove(self, socket: ServerConnection) -> None:
        """A socket is closed."""
        self._sockets.pop(socket, None)

    def has_expired(self, socket: ServerConnection) -> bool:
        """Whether the token of a socket is good no more."""
        found = self._sockets.get(socket)
        return found is not None and found.expires_at <= self._clock()

    async def run(self) -> None:
        """Close what has expired, again and again. A turn that runs is sent to its end."""
        while True:
            await asyncio.sleep(LOOK_S)
            closing = [
                socket
                for socket, held in self._sockets.items()
                if self.has_expired(socket) and _is_done(held)
            ]
            await asyncio.gather(*map(_close, closing))


def _is_done(held: _Held) -> bool:
    """Whether nothing runs or waits any more of what did when the token had expired."""
    state = held.live.state
    unfinished = {prompt.entry_id for prompt in state.queue}
    if state.running is not None and not state.running.parked:
        unfinished.add(state.running.prompt.entry_id)
    if held.awaited is None:
        held.awaited = frozenset(unfinished)
    return held.awaited.isdisjoint(unfinished)


async def _close(socket: ServerConnection) -> None:
    try:
        async with asyncio.timeout(CLOSE_S):
            await socket.close(CloseCode.POLICY_VIOLATION, EXPIRED)
    except (TimeoutError, OSError, WebSocketException):
        socket.transport.abort()
