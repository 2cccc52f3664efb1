"""Accepts waiting connections, several in each round of the event loop.

libuv, and uvloop with it, accepts one a round since its version 1.45. Under load a round takes
milliseconds, and a hundred newcomers would wait a hundred of them behind those who are in already.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

ACCEPTED_MAX: Final = 32
"""Most connections of one round: those who are in have to get their turn, too."""


class Acceptor:
    """Accepts those who wait beside the one whom the loop has accepted.

    Args:
        listeners: Whose connections the loop accepts.
        new_protocol: Makes the protocol of a connection.

    """

    def __init__(
        self, listeners: Sequence[socket.socket], new_protocol: Callable[..., asyncio.Protocol]
    ) -> None:
        for listener in listeners:
            listener.settimeout(0)
        self._listeners = listeners
        self._new_protocol = new_protocol
        self._connecting = set[asyncio.Task[None]]()

    def protocol(self, **given: Any) -> asyncio.Protocol:
        """The factory for the loop: makes the protocol of its connection, and accepts the others.

        Args:
            given: For `new_protocol`.

        """
        new_protocol = partial(self._new_protocol, **given)
        for listener in self._listeners:
            self._accept(listener, new_protocol)
        return new_protocol()

    async def settled(self) -> None:
        """Wait until each connection that was accepted has its protocol."""
        while self._connecting:
            await asyncio.wait(self._connecting)

    def _accept(
        self, listener: socket.socket, new_protocol: Callable[[], asyncio.Protocol]
    ) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(ACCEPTED_MAX):
            try:
                accepted, _address = listener.accept()
            except OSError:  # none waits; or no descriptor is free, which the loop deals with
                return
            accepted.settimeout(0)
            task = loop.create_task(_connect(accepted, new_protocol))
            self._connecting.add(task)
            task.add_done_callback(self._connecting.discard)


async def _connect(accepted: socket.socket, new_protocol: Callable[[], asyncio.Protocol]) -> None:
    try:
        await asyncio.get_running_loop().connect_accepted_socket(new_protocol, accepted)
    except OSError:  # it is gone already
        accepted.close()
