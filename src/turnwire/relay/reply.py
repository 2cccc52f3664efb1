"""Send a complete response body to a client that may read slowly, or not at all."""

from collections.abc import Mapping, Sequence
from typing import Final

from turnwire.relay.client_writer import ClientWriter, Send
from turnwire.relay.memory_budget import Holder
from turnwire.relay.tcp import ClientSocket

_SHORT_BYTES: Final = 65_536
"""A body of at most this size is sent in one write: the server buffers as much for any client."""


class Reply:
    """One response with a `content-length`, sent like a stream (`relay.client_writer.Flow`).

    `holder` counts the bytes that the client has not taken. A client that takes nothing is cut.
    Call `begin` with the body, then await `finish`.
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
        """Write as many of these pieces as the client takes now, and queue the rest."""
        self._headers.append((b"content-length", b"%d" % sum(map(len, body))))
        is_short = len(body) == 1 and len(body[0]) <= _SHORT_BYTES
        for piece in body:
            self._writer.write(piece, is_last=is_short)

    async def finish(self, stall_s: float) -> bool:
        """Wait until the client has taken all. False: it took nothing for `stall_s` seconds."""
        try:
            if await self._writer.finish(stall_s):
                return True
            self._writer.cut()
            await self._writer.wait_for_disconnect()
            return False
        finally:
            self._writer.detach()

    # Callbacks of the client side (`relay.client_writer.Flow`).

    def client_blocked(self) -> None: ...

    def client_progressed(self) -> None: ...

    def client_unblocked(self) -> None: ...

    def client_held(self, held_bytes: int) -> None: ...

    def client_overflowed(self) -> None:
        self._writer.cut()
