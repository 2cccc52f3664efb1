"""The transports of this gateway, by name.

A new transport is a module in this package and an entry in `TRANSPORTS`. The composition root makes
the one that carries the dialect; the settings read its scheme.
"""

from typing import Final

from turnwire.relay.agent.http.transport import HttpTransport
from turnwire.relay.agent.port import Transport
from turnwire.relay.agent.websocket import WebSocketTransport

TRANSPORTS: Final[dict[str, type[Transport]]] = {
    transport.name: transport for transport in (WebSocketTransport, HttpTransport)
}
