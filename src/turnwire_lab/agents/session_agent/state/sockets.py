"""The sockets of one session. Nearly every frame goes to all of them (§4).

No socket waits for another: one that does not read fills its own buffer, and is cut off when
the buffer is full.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec
from websockets.asyncio.server import ServerConnection, broadcast
from websockets.exceptions import ConnectionClosed

from turnwire_lab.agents.common.frames import Json

SETTLE_S: Final = 2.0
"""Longest wait for sockets that do not read."""


class Sockets:
    def __init__(self, *, buffer_bytes: int, changed: Callable[[], None]) -> None:
        self.sent = 0
        """Frames sent to all sockets, for measuring."""
        self._sockets: dict[ServerConnection, str] = {}
        self._lines: dict[ServerConnection, int] = {}
        self._joined = 0
        self._buffer_bytes = buffer_bytes
        self._changed = changed

    def __len__(self) -> int:
        return len(self._sockets)

    def __contains__(self, socket: ServerConnection) -> bool:
        return socket in self._sockets

    @property
    def open(self) -> list[ServerConnection]:
        return list(self._sockets)

    @property
    def users(self) -> list[str]:
        """Who is there, each once."""
        return list(dict.fromkeys(self._sockets.values()))

    def add(self, socket: ServerConnection, user_id: str) -> None:
        self._sockets[socket] = user_id
        self._joined += 1
        self._lines[socket] = self._joined

    def remove(self, socket: ServerConnection) -> str:
        del self._lines[socket]
        return self._sockets.pop(socket)

    def user_of(self, socket: ServerConnection) -> str:
        return self._sockets[socket]

    def line_of(self, socket: ServerConnection) -> int:
        """Its number, for telling sockets of one user apart."""
        return self._lines[socket]

    async def settle(self) -> None:
        """Wait until every socket has got all frames, as its pong proves."""
        with suppress(TimeoutError):
            async with asyncio.timeout(SETTLE_S):
                await asyncio.gather(*(_has_received(socket) for socket in self._sockets))

    def tell(self, frame: Json) -> None:
        self.sent += 1
        self._send(list(self._sockets), frame)

    def tell_user(self, user_id: str, frame: Json) -> None:
        self._send([socket for socket, who in self._sockets.items() if who == user_id], frame)

    def tell_one(self, socket: ServerConnection, frame: Json) -> None:
        self._send([socket], frame)

    def hang_up(self) -> None:
        """Close as a new release of the product does: without a closing frame (§8)."""
        for socket in list(self._sockets):
            socket.transport.abort()

    def _send(self, sockets: list[ServerConnection], frame: Json) -> None:
        for socket in sockets:
            if socket.transport.get_write_buffer_size() > self._buffer_bytes:
                socket.transport.abort()
        sockets = [socket for socket in sockets if not socket.transport.is_closing()]
        broadcast(sockets, msgspec.json.encode(frame), text=True)
        self._changed()


async def _has_received(socket: ServerConnection) -> None:
    with suppress(ConnectionClosed):
        await (await socket.ping())
