"""A whole body on its way to a client that may read slowly, or not at all."""

from collections.abc import Mapping, Sequence
from typing import Final

from turnwire.relay.budget import Holder
from turnwire.relay.client import ClientWriter, Send
from turnwire.relay.sockets import ClientSocket

_SHORT_BYTES: Final = 65_536
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

    def begin(self, body: Sequence[bytes]) -> None:
        """Write what the client takes now of these pieces, and keep the rest for it."""
        self._headers.append((b"content-length", b"%d" % sum(map(len, body))))
        is_short = len(body) == 1 and len(body[0]) <= _SHORT_BYTES
        for piece in body:
            self._writer.write(piece, is_last=is_short)

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
