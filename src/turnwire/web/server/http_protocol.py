"""One HTTP connection: uvicorn's protocol class with the limits that long streams need.

`HttpConnection` bounds the size and the time of what a client sends, rejects requests that a proxy
could read differently, and cuts clients that vanished or do not read.
"""

import asyncio
import functools
import uuid
import weakref
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Any, Final

import httptools
import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from turnwire.errors import BadRequest
from turnwire.relay.client_writer import BODY_EXTENSION, SOCKET_EXTENSION
from turnwire.relay.rounds import Rounds, Slices
from turnwire.relay.tcp import ClientSocket, cut, peer_state
from turnwire.web.request import BODY_S
from turnwire.web.server.client_watch import ClientWatch, Loss
from turnwire.web.server.flow import ClosingTransport, Flow
from turnwire.web.server.message_event import MessageEvent
from turnwire.web.server.request_head import (
    HEAD_BYTES_MAX,
    HEADERS_MAX,
    UnsoundRequestError,
    check_head,
)
from turnwire.web.server.response_body import ChunkedBody

PIECES_MAX: Final = 200_000
"""Most pieces of a body: chunks or reads. Each takes a microsecond, also a short one."""

HEAD_S: Final = 10.0
"""How long a head may take from its first byte; the first head, from the connection's start."""

_LINES_PER_READ_MAX: Final = HEADERS_MAX + 28
"""A read with more lines is parsed in steps: it may be one-byte chunks, four microseconds each."""
_STEP_BYTES: Final = 1_024
"""How much of such a read is parsed in one step."""


class _Parser(httptools.HttpRequestParser):
    """Reads a request with an `Upgrade` header as a plain HTTP request.

    httptools takes the bytes after such a head as bytes of the other protocol. The body of the
    request would be lost, or be read as the next request. Here a new parser gets the head without
    that header, and the bytes after it.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: "HttpConnection") -> None:
        super().__init__(connection)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self._connection = connection

    def feed_data(self, data: bytes) -> None:  # type: ignore[override]  # only `bytes` are fed
        try:
            super().feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            (head_bytes,) = upgrade.args
            self._connection.ignore_upgrade(data[head_bytes:])


class _Phase(Enum):
    """The part of a request that the client sends now. `END`: the request is complete."""

    HEAD = auto()
    BODY = auto()
    END = auto()


_HEAD, _BODY, _END = _Phase
"""Module names for the members: a lookup in the enum's class takes a thousand instructions."""


def _new_body(cycle_ref: weakref.ref[RequestResponseCycle]) -> ChunkedBody | None:
    cycle = cycle_ref()
    return None if cycle is None else ChunkedBody(cycle)


class HttpConnection(HttpToolsProtocol):
    """uvicorn's protocol with bounds on requests, which always notices when the client disconnects.

    A request that arrives during an open response cuts the connection. uvicorn
    would stop reading and keep the request for later, and so would not notice when the
    client disconnects; browsers, proxies and HTTP libraries do not pipeline.

    uvicorn has a timeout for idle connections only. Here a head has a timeout too, and so has
    the rest of a body whose request was refused before the body was complete.
    """

    head_s = HEAD_S

    # Slots beside uvicorn's instance dictionary. In the dictionary they would make more than the
    # thirty keys for which Python has a compact form, and take 1.2 KB more.
    __slots__ = (
        "_client_socket",
        "_extensions",
        "_framing_bytes",
        "_head_bytes",
        "_head_rest_s",
        "_is_upgrade",
        "_is_waiting",
        "_phase",
        "_piece_count",
        "_rounds",
        "_slices",
        "_timeout",
        "_unparsed",
        "_watch",
    )

    def __init__(self, *args: Any, rounds: Rounds, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rounds = rounds
        self._slices: Slices | None = None
        """The unparsed rest of a read, as work in slices. Few connections ever have one."""
        self._is_waiting = False
        """Whether a request has arrived that waits for its turn."""
        self._head_rest_s = self.head_s
        """The rest of the head's timeout, for when the wait is over."""
        self._unparsed: Sequence[bytes] = ()
        """Reads that arrived during the wait, or while slices are left."""
        # No request is kept for later, and an empty deque takes 760 bytes.
        self.pipeline = ()  # type: ignore[assignment]  # on purpose: to add to it raises
        self._phase = _HEAD
        self._extensions: dict[str, Any] = {}
        self._head_bytes = 0
        self._framing_bytes = 0
        """Bytes of reads since the last one with a piece of the body: chunk sizes and trailers."""
        self._piece_count = 0
        """Pieces of the body so far."""
        self._is_upgrade = False
        """Whether the last head asks for another protocol."""
        self._client_socket: ClientSocket | None = None
        self._watch: ClientWatch | None = None
        """Made for the first check: short connections have none."""
        self._timeout: asyncio.TimerHandle | None = None
        """Closes the connection, unless the expected bytes arrive before."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.flow: Flow = Flow(transport)
        self.parser = _Parser(self)
        self._set_timeout(self.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._set_timeout(None)
        if self._client_socket is not None:
            self._client_socket.lost(is_answered=self._is_idle)
        super().connection_lost(exc)
        # Also after a reset, or the timer would keep this object alive.
        self._unset_keepalive_if_required()
        if self._client_socket is not None:
            self._client_socket.gone()

    def data_received(self, data: bytes) -> None:
        if self._client_socket is not None and self._client_socket.is_closing:
            return  # the connection ends, and no further request is read
        if self._is_waiting or (self._slices is not None and self._slices.has_work):
            self._unparsed = [*self._unparsed, data]
        elif self._phase is _BODY and not self._is_idle:
            self._take(data)
        elif self._rounds.door.is_open():  # a request may begin, perhaps after a refused body
            if not self._take_request(data):
                self._rounds.door.return_entry()
        else:
            self._wait_for_turn(data)

    def _wait_for_turn(self, data: bytes) -> None:
        """Make what may be a request wait for its turn. Its timeout stops meanwhile."""
        self._is_waiting = True
        self._unparsed = [data]
        self.flow.hold(is_held=True)
        self._unset_keepalive_if_required()
        self._head_rest_s = self.head_s
        if self._timeout is not None:
            self._head_rest_s = max(0.0, self._timeout.when() - self.loop.time())
            self._set_timeout(None)
        self._rounds.door.wait(self._start_request, is_new=self.cycle is None)

    def _start_request(self) -> bool:
        """Parse the request that had to wait. Returns whether a request began."""
        if not self._is_waiting:  # the server stops, and `shutdown` called this before its turn
            return False
        self._is_waiting = False
        data, self._unparsed = b"".join(self._unparsed), ()
        if self.transport.is_closing():
            return False
        self.flow.hold(is_held=False)
        old_phase = self._phase
        has_begun = self._take_request(data)
        # If the phase has changed, the new part has a timeout of its own.
        if self._phase is old_phase and (
            old_phase is _HEAD or (old_phase is _BODY and self._is_idle)
        ):
            self._set_timeout(self._head_rest_s)
        return has_begun

    def _take_request(self, data: bytes) -> bool:
        """Parse `data`. Returns whether a request began in it."""
        old_cycle = self.cycle
        self._take(data)
        return self.cycle is not old_cycle

    def _take(self, data: bytes) -> None:
        if data.count(b"\n") > _LINES_PER_READ_MAX:
            self._slices = self._slices or Slices(self._rounds)
            self._slices.begin(self._in_steps(data))
            if self._slices.has_work:
                self.flow.hold(is_held=True)
        else:
            self._parse(data)

    def _in_steps(self, data: bytes) -> Iterator[None]:
        """Parse a read of many short lines, and later reads, a step at a time."""
        try:
            while data:
                for at in range(0, len(data), _STEP_BYTES):
                    if self.transport.is_closing():
                        return
                    self._parse(data[at : at + _STEP_BYTES])
                    yield
                data, self._unparsed = b"".join(self._unparsed), ()
            self.flow.hold(is_held=False)
        except Exception:
            self.transport.abort()  # else reading would stay paused for ever
            raise

    def _parse(self, data: bytes) -> None:
        old_phase = self._phase
        self._framing_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._phase is _BODY:
            if self._framing_bytes > HEAD_BYTES_MAX:
                self._refuse_body("What stands between the pieces of the body is too large")
            elif self._piece_count > PIECES_MAX:
                self._refuse_body("The body has too many pieces")
        elif self._phase is _HEAD:
            if old_phase is not _BODY:  # else most of it may be the end of the body
                self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.send_400_response("The head of the request is too large")
        elif self._phase is _END and self._is_idle and self.timeout_keep_alive_task is None:
            # An empty line, or the end of a body: uvicorn has stopped its idle timer for it.
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._phase, self._head_bytes = _HEAD, 0
        if self._timeout is None:
            self._set_timeout(self.head_s)
        self._extensions = {}
        self.scope["extensions"] = self._extensions

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._phase is _HEAD:  # else it is a trailer, which a proxy does not check
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._framing_bytes = 0
        self._piece_count += 1
        super().on_body(body)

    def ignore_upgrade(self, rest: bytes) -> None:
        """Parse the request again without its `Upgrade` header, followed by `rest`."""
        self._is_upgrade = False
        if self.transport.is_closing():
            return
        parser = self.parser
        head = [
            b"%b %b HTTP/%b" % (parser.get_method(), self.url, parser.get_http_version().encode())
        ]
        head += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = _Parser(self)
        self.parser.feed_data(b"\r\n".join([*head, b"", rest]))

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            self._check_head()
            self._is_upgrade = True
            return
        self._phase, self._framing_bytes, self._piece_count = _BODY, 0, 0
        self._set_timeout(None)
        if not self._is_idle:
            self.transport.abort()
            # Else the body of this request would be added to that of the open one.
            raise UnsoundRequestError("behind an open response")
        if self._client_socket is not None and self._client_socket.has_ack_waiters:
            cut(self.transport)
            raise UnsoundRequestError("before the answer to the last one was read")
        self._check_head()
        # Not before: until here the socket of the open stream watches.
        self._client_socket = ClientSocket(self.transport)
        self._extensions[SOCKET_EXTENSION] = self._client_socket
        super().on_headers_complete()
        self.cycle.message_event = MessageEvent()  # type: ignore[assignment]  # it has what is called
        if not self.cycle.keep_alive:
            self._close_after(self.cycle)
        # Weak, or the request would reference itself.
        self._extensions[BODY_EXTENSION] = functools.partial(_new_body, weakref.ref(self.cycle))

    def on_message_complete(self) -> None:
        if self._is_upgrade:
            return
        self._phase = _END
        self._set_timeout(None)
        super().on_message_complete()
        # Uvicorn may leave it paused, and then the end of the client would not be noticed.
        self.flow.resume_reading()
        if self._client_socket is not None:
            self._client_socket.is_request_complete = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._phase is _BODY:
            self._set_timeout(BODY_S)

    def check_client(self, now: float, stall_s: float) -> None:
        """Cut a client that vanished, or that acknowledged nothing for `stall_s` seconds."""
        watch = self._watch = self._watch or ClientWatch()
        if not watch.is_due(now):
            return
        loss = watch.check(peer_state(self.transport), now, stall_s)
        if loss is not None:
            if self._client_socket is not None:
                self._client_socket.stalled = loss is Loss.STALLED
            cut(self.transport)

    def shutdown(self) -> None:
        self._start_request()  # a request that has arrived is answered
        client = self._client_socket
        if client is None:
            super().shutdown()
        elif self._is_idle:
            ClosingTransport(self.transport, client).close()
        else:
            super().shutdown()
            self._close_after(self.cycle)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, once the client has acknowledged the last response."""
        client = self._client_socket
        if client is not None and not self.transport.is_closing():
            client.when_acked(super().timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP request, with the same kind of body as all other refusals."""
        if self.transport.is_closing():
            return
        if not self._is_idle and self.cycle.response_started:
            self.transport.abort()  # a second head must not be written into an open response
            return
        request_id = uuid.uuid4().hex
        body = msgspec.json.encode({"error": msg, "code": BadRequest.code, "requestId": request_id})
        head = (
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\ncache-control: no-store\r\n"
            f"x-content-type-options: nosniff\r\nx-request-id: {request_id}\r\n"
            "connection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _close_after(self, cycle: RequestResponseCycle) -> None:
        """Close the connection after this response, once the client has acknowledged it."""
        client = self._client_socket
        if client is not None:
            cycle.transport = ClosingTransport(self.transport, client)  # type: ignore[assignment]  # it has what is called

    def _refuse_body(self, message: str) -> None:
        if self._is_idle:  # the request is already answered
            self.transport.close()
        else:
            self.send_400_response(message)

    @property
    def _is_idle(self) -> bool:
        """Whether no response is open. Also true before the first request."""
        return getattr(self.cycle, "response_complete", True)

    def _set_timeout(self, timeout_s: float | None) -> None:
        """Close the connection after `timeout_s` seconds; None: remove the timeout."""
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None
        if timeout_s is not None and not self.transport.is_closing():
            self._timeout = self.loop.call_later(timeout_s, self.transport.close)

    def _check_head(self) -> None:
        """Reject heads that the parser accepts, but that a proxy in front may read differently.

        Raises:
            UnsoundRequestError: the parser turns it into an error of its own, so into a 400.

        """
        check_head(
            self.url,
            self.headers,
            method=self.parser.get_method(),
            http_version=self.parser.get_http_version(),
        )
