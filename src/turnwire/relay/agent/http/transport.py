"""Open connections of the transport `http`: a request, on a kept socket or on a new one."""

from typing import ClassVar

from turnwire.core.connect import BadConnectRequestError, ConnectRequest
from turnwire.relay.agent.dialer import Dialler
from turnwire.relay.agent.http.exchange import HttpExchange
from turnwire.relay.agent.http.pool import HttpStats, Pool
from turnwire.relay.agent.http.socket import HttpSocket
from turnwire.relay.agent.port import AgentTarget, Listener, Scheme, address_of
from turnwire.relay.memory_budget import Reservation


class HttpTransport:
    """Sends requests by HTTP/1.1. It follows no redirect, and uses no proxy."""

    name: ClassVar = "http"
    scheme: ClassVar = Scheme("http", needs_session=False)
    status_is_answer: ClassVar = True

    def __init__(self, dialler: Dialler, *, frame_bytes: int) -> None:
        self._dialler = dialler
        self._frame_bytes = frame_bytes
        self.stats = HttpStats()
        self._pool = Pool(self.stats)

    @classmethod
    def check(cls, request: ConnectRequest | AgentTarget) -> None:
        """Check that a request is one of HTTP.

        Raises:
            BadConnectRequestError: it offers sub-protocols, accepts nothing, or its response can
                have no body.

        """
        if request.offered_protocols:
            raise BadConnectRequestError("an HTTP request offers no sub-protocols")
        if not request.accept:
            raise BadConnectRequestError("an HTTP request says which media types it accepts")
        if not request.method.isalpha() or request.method in {"HEAD", "CONNECT"}:
            raise BadConnectRequestError(f"no stream of events answers a {request.method!r}")

    def close(self) -> None:
        self._pool.close()

    async def open(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> HttpExchange:
        """Send the request. What becomes of it goes to the `listener`.

        Raises:
            DialError: DNS, TCP or TLS failed.
            BadConnectRequestError: as `check`, before the dial.

        """
        self.check(target)
        address = address_of(target.url, self.scheme)
        exchange = HttpExchange(
            target,
            address,
            listener,
            dialler=self._dialler,
            pool=self._pool,
            stats=self.stats,
            frame_bytes=self._frame_bytes,
            reservation=reservation,
        )
        socket = self._pool.take(address)
        if socket is None:
            socket = await self._dialler.dial(address, HttpSocket)
            self.stats.on_new += 1
        else:
            self.stats.on_kept += 1
        exchange.begin(socket)
        return exchange
