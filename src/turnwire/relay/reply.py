"""A whole body on its way to a client that may read slowly, or not at all."""

from collections.abc import Mapping
from typing import Final

from turnwire.relay.budget import Holder
from turnwire.relay.client import ClientWriter, Send
from turnwire.relay.sockets import ClientSocket

_PIECE_BYTES: Final = 65_536
"""What goes at once: as much as the server takes for a client that does not read."""


class Reply:
    """One response with a length, written under the rules of a stream (`relay.client.Flow`).

    What the client has not taken is counted, and one that takes nothing is cut.
    """

    def __init__(
        self,
        send: Send,
        status: int,
        headers: Mapping[str, str],
        *,
        holder: Holder,
        client_socket: ClientSocket | None,
    ) -> None:
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._writer = ClientWriter(
            send,
            self._headers,
            self,
            client_socket,
            holder=holder,
            status=status,
        )

    def begin(self, body: bytes) -> None:
        """Write what the client takes now. The rest is kept in pieces, and `body` can go."""
        self._headers.append((b"content-length", b"%d" % len(body)))
        if len(body) <= _PIECE_BYTES:
            self._writer.write(body, is_last=True)
            return
        for at in range(0, len(body), _PIECE_BYTES):
            self._writer.write(body[at : at + _PIECE_BYTES])

    async def finish(self, stall_s: float) -> bool:
        """Wait until the client took all of it. False: it took nothing for so many seconds."""
        try:
            if await self._writer.finish(stall_s):
                return True
            self._writer.cut()
            await self._writer.settled()
            return False
        finally:
            self._writer.leave()

    # The client's side (relay.client.Flow).

    def client_blocked(self) -> None: ...

    def client_progressed(self) -> None: ...

    def client_unblocked(self) -> None: ...

    def client_held(self, held_bytes: int) -> None: ...

    def client_overflowed(self) -> None:
        self._writer.cut()
