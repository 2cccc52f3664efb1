"""The transport `websocket`: a connection to the agent is one WebSocket."""

from functools import partial
from typing import ClassVar

from turnwire.core.connect import BadConnectRequestError, ConnectRequest
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.port import (
    AgentTarget,
    KeepsNoConnection,
    Listener,
    Scheme,
    address_of,
)
from turnwire.relay.agent.websocket_connection import WebSocketConnection
from turnwire.relay.memory_budget import Reservation


class WebSocketTransport(KeepsNoConnection):
    """Opens WebSockets: a request is their handshake, and offers sub-protocols.

    A handshake is always a GET without a body. One dial, no redirect.
    """

    name: ClassVar = "websocket"
    scheme: ClassVar = Scheme("ws")
    status_is_answer: ClassVar = False

    def __init__(self, dialler: Dialler, *, frame_bytes: int) -> None:
        self._dialler = dialler
        self._frame_bytes = frame_bytes

    @classmethod
    def check(cls, request: ConnectRequest | AgentTarget) -> None:
        """Check that a request is a handshake.

        Raises:
            BadConnectRequestError: it has another method, or a body.

        """
        if request.method != "GET" or request.body:
            what = f"a {request.method} with {len(request.body)} bytes of body"
            message = f"a WebSocket is opened by a GET without a body, not by {what}"
            raise BadConnectRequestError(message)

    async def open(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> WebSocketConnection:
        """Connect, and start the handshake. Its result goes to the `listener`.

        Raises:
            DialError: DNS, TCP or TLS failed.
            BadConnectRequestError: the request is no handshake.

        """
        if target.body or target.method != "GET":  # no call for each dial, only to find nothing
            self.check(target)
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
