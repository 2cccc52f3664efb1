"""The transport `websocket`: a connection to the agent is one WebSocket."""

from functools import partial
from typing import ClassVar

from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import AgentTarget, Listener, Scheme, address_of
from turnwire.relay.agent.websocket_connection import WebSocketConnection
from turnwire.relay.memory_budget import Reservation


class WebSocketTransport:
    """Opens WebSockets: a request is their handshake, and offers sub-protocols.

    A handshake is always a GET without a body. One dial, no redirect.
    """

    name: ClassVar = "websocket"
    scheme: ClassVar = Scheme("ws")

    def __init__(self, dialler: Dialler, *, frame_bytes: int) -> None:
        self._dialler = dialler
        self._frame_bytes = frame_bytes

    async def open(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> WebSocketConnection:
        """Connect, and start the handshake. Its result goes to the `listener`.

        Raises:
            DialError: DNS, TCP or TLS failed.

        """
        connection = partial(
            WebSocketConnection,
            target.url,
            target.headers,
            listener,
            subprotocols=target.offered_protocols,
            frame_bytes=self._frame_bytes,
            reservation=reservation,
            rounds=self._dialler.rounds,
        )
        return await self._dialler.dial(address_of(target.url, self.scheme), connection)
