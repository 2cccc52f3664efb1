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

    def open_kept(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> HttpExchange | None:
        """Send the request on a kept socket. None: there is none.

        Raises:
            BadConnectRequestError: as `check`.

        """
        socket = self._pool.take(address_of(target.url, self.scheme))
        if socket is None:
            return None
        try:
            exchange = self._exchange(target, listener, reservation)
        except BaseException:
            socket.abort()  # it is nobody's any more
            raise
        self.stats.on_kept += 1
        exchange.begin(socket)
        return exchange

    async def open(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> HttpExchange:
        """Send the request on a new socket. What becomes of it goes to the `listener`.

        Raises:
            DialError: DNS, TCP or TLS failed.
            BadConnectRequestError: as `check`, before the dial.

        """
        exchange = self._exchange(target, listener, reservation)
        socket = await self._dialler.dial(address_of(target.url, self.scheme), HttpSocket)
        self.stats.on_new += 1
        exchange.begin(socket)
        return exchange

    def _exchange(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> HttpExchange:
        self.check(target)
        return HttpExchange(
            target,
            address_of(target.url, self.scheme),
            listener,
            dialler=self._dialler,
            pool=self._pool,
            stats=self.stats,
            frame_bytes=self._frame_bytes,
            reservation=reservation,
        )
