"""One HTTP connection: uvicorn's protocol, and what it lacks in front of long streams."""

import asyncio
import functools
import re
import uuid
import weakref
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import Any, Final

import httptools
import msgspec
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from turnwire.errors import BadRequest
from turnwire.relay.rounds import Rounds, Slices
from turnwire.relay.sockets import ClientSocket, cut, look
from turnwire.relay.stream import BODY_EXTENSION, SOCKET_EXTENSION
from turnwire.web.body import ChunkedBody
from turnwire.web.request import BODY_S

HEAD_BYTES_MAX: Final = 65_536
"""Longest request line and headers. Parsing them costs the square of a header's length."""

HEADERS_MAX: Final = 100

PIECES_MAX: Final = 200_000
"""Most pieces of a body, be they chunks or reads. Each takes a microsecond, however short it is."""

HEAD_S: Final = 10.0
"""How long a head may take from its first byte, the first one from the connection's start."""

_LOOKS: Final = 4
"""How often a client is looked at in the time it has to take something."""

_COARSE_S: Final = 0.05
"""What the kernel's clock and ours may differ by."""

_HOST: Final = re.compile(rb"[A-Za-z0-9._~%:\[\]-]*")
_LINE: Final = len(": \r\n")

_MANY_LINES: Final = HEADERS_MAX + 28
"""A read of more lines may be chunks of a byte each, which take four microseconds."""
_STEP_BYTES: Final = 1_024
"""How much of such a read is parsed at a time."""


class UnsoundRequestError(Exception):
    """Two readers of this request might read two different ones."""


class _Parser(httptools.HttpRequestParser):
    """Has requests stay HTTP that ask for another protocol: none is spoken here.

    httptools takes what follows the head of such a request for that protocol. So its body would be
    lost, or be read as the next request. Here the rest goes to a parser that is told no such wish.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: "HttpConnection") -> None:
        super().__init__(connection)
        self.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn has it
        self._connection = connection

    def feed_data(self, data: bytes) -> None:  # type: ignore[override]  # no other is fed
        try:
            super().feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            (head_bytes,) = upgrade.args
            self._connection.stay(data[head_bytes:])


class _Flow(FlowControl):
    """Has an event only while its client does not read: most always do, and one takes 900 bytes."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.read_paused = self.write_paused = False
        self._is_held = False
        """Whether nothing is to be read, whoever asks for more: there is something to parse."""
        self._reads: asyncio.Event | None = None

    async def drain(self) -> None:
        if self._reads is not None:
            await self._reads.wait()

    def hold(self, *, is_held: bool) -> None:
        self._is_held = is_held
        if is_held:
            self._transport.pause_reading()
        elif not self.read_paused and not self._transport.is_closing():
            self._transport.resume_reading()

    def resume_reading(self) -> None:
        if self._is_held:
            self.read_paused = False
        else:
            super().resume_reading()

    def pause_writing(self) -> None:
        self.write_paused = True
        self._reads = self._reads or asyncio.Event()

    def resume_writing(self) -> None:
        self.write_paused = False
        if self._reads is not None:
            self._reads.set()
            self._reads = None


class _At(Enum):
    """Where in a request its client is."""

    HEAD = auto()
    BODY = auto()
    END = auto()


_HEAD, _BODY, _END = _At
"""By names of their own: to ask an enum's class for a member takes a thousand instructions."""


class _Closing:
    """Of a transport what a response needs whose connection ends with it.

    It closes once the client has taken everything: after a close nobody could say whether it has.
    """

    __slots__ = ("_client", "_transport", "is_closing", "write")

    def __init__(self, transport: asyncio.Transport, client: ClientSocket) -> None:
        self._transport = transport
        self._client = client
        self.write = transport.write
        self.is_closing = transport.is_closing

    def close(self) -> None:
        self._client.is_closing = True
        self._client.when_taken(self._transport.close)


def _body(cycle: weakref.ref[RequestResponseCycle]) -> ChunkedBody | None:
    there = cycle()
    return None if there is None else ChunkedBody(there)


class HttpConnection(HttpToolsProtocol):
    """Bounds the head of a request, and lets nothing stand between a stream and its client's end.

    A request that comes in behind an open response cuts the connection. uvicorn
    would stop reading and keep it for later, and so would not notice when the
    client hangs up; browsers, proxies and HTTP libraries do not pipeline.

    uvicorn times idle connections only. Here a head has its time too, and so has
    the rest of a body that was refused before it was there.
    """

    head_s = HEAD_S

    # Beside what uvicorn has in its dictionary. With these, too, that had more than the thirty
    # that Python keeps in a short form, and took 1.2 KB more.
    __slots__ = (
        "_acked_bytes",
        "_at",
        "_client_socket",
        "_expected",
        "_extensions",
        "_framing_bytes",
        "_head_bytes",
        "_head_left_s",
        "_is_upgrade",
        "_look_at",
        "_pieces",
        "_rounds",
        "_slices",
        "_took_at",
        "_unread",
        "_waits",
    )

    def __init__(self, *given: Any, rounds: Rounds, **named: Any) -> None:
        super().__init__(*given, **named)
        self._rounds = rounds
        self._slices: Slices | None = None
        """What is left to parse of a read. Few connections ever have any."""
        self._waits = False
        """Whether a request is there that has to wait for its turn."""
        self._head_left_s = self.head_s
        """What it has left to be whole then."""
        self._unread: Sequence[bytes] = ()
        """What came in meanwhile."""
        # None is kept for later, and an empty deque takes 760 bytes.
        self.pipeline = ()  # type: ignore[assignment]  # by intent: to add to it would raise
        self._at = _HEAD
        self._extensions: dict[str, Any] = {}
        self._head_bytes = 0
        self._framing_bytes = 0
        """Of reads since the last one with a piece of a body: chunk sizes and trailers."""
        self._pieces = 0
        """Of the body, so far."""
        self._is_upgrade = False
        """Whether the head that was read asks for another protocol."""
        self._client_socket: ClientSocket | None = None
        self._look_at = self._took_at = 0.0
        self._acked_bytes = 0
        """By when its client had last taken something, or there was nothing to take."""
        self._expected: asyncio.TimerHandle | None = None
        """Closes the connection, unless what is expected comes before."""

    # As uvicorn has it, where asyncio says `BaseTransport`.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow: _Flow = _Flow(transport)
        self.parser = _Parser(self)
        self._expect(self.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect(None)
        if self._client_socket is not None:
            self._client_socket.lost(is_answered=self._is_idle)
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # after a reset too, or its clock would hold all this
        if self._client_socket is not None:
            self._client_socket.gone()

    def data_received(self, data: bytes) -> None:
        if self._client_socket is not None and self._client_socket.is_closing:
            return  # it was told so
        if self._waits or (self._slices is not None and self._slices.are_left):
            self._unread = [*self._unread, data]
        elif self._at is _BODY and not self._is_idle:
            self._take(data)
        elif self._rounds.door.is_open():  # a request may begin, if behind a refused body
            if not self._begins(data):
                self._rounds.door.give_back()
        else:
            self._wait(data)

    def _wait(self, data: bytes) -> None:
        """Have what may be a request wait for its turn. Its client is not late meanwhile."""
        self._waits = True
        self._unread = [data]
        self.flow.hold(is_held=True)
        self._unset_keepalive_if_required()
        self._head_left_s = self.head_s
        if self._expected is not None:
            self._head_left_s = max(0.0, self._expected.when() - self.loop.time())
            self._expect(None)
        self._rounds.door.wait(self._enter, is_new=self.cycle is None)

    def _enter(self) -> bool:
        """Take the request that had to wait. Returns whether it began."""
        if not self._waits:  # the server stops, and it went before its turn
            return False
        self._waits = False
        data, self._unread = b"".join(self._unread), ()
        if self.transport.is_closing():
            return False
        self.flow.hold(is_held=False)
        was_at = self._at
        begins = self._begins(data)
        # What was waited for is not there yet, or else what is has a time of its own.
        if self._at is was_at and (was_at is _HEAD or (was_at is _BODY and self._is_idle)):
            self._expect(self._head_left_s)
        return begins

    def _begins(self, data: bytes) -> bool:
        """Take this. Returns whether a request began with it."""
        before = self.cycle
        self._take(data)
        return self.cycle is not before

    def _take(self, data: bytes) -> None:
        if data.count(b"\n") > _MANY_LINES:
            self._slices = self._slices or Slices(self._rounds)
            self._slices.begin(self._in_steps(data))
            if self._slices.are_left:
                self.flow.hold(is_held=True)
        else:
            self._parse(data)

    def _in_steps(self, data: bytes) -> Iterator[None]:
        """Parse a read of many short lines, and what came since."""
        try:
            while data:
                for at in range(0, len(data), _STEP_BYTES):
                    if self.transport.is_closing():
                        return
                    self._parse(data[at : at + _STEP_BYTES])
                    yield
                data, self._unread = b"".join(self._unread), ()
            self.flow.hold(is_held=False)
        except Exception:
            self.transport.abort()  # nothing would ever be read of it again
            raise

    def _parse(self, data: bytes) -> None:
        was_at = self._at
        self._framing_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._at is _BODY:
            if self._framing_bytes > HEAD_BYTES_MAX:
                self._refuse_body("What stands between the pieces of the body is too large")
            elif self._pieces > PIECES_MAX:
                self._refuse_body("The body has too many pieces")
        elif self._at is _HEAD:
            if was_at is not _BODY:  # else most of it may be the end of that
                self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.send_400_response("The head of the request is too large")
        elif self._at is _END and self._is_idle and self.timeout_keep_alive_task is None:
            # An empty line, or a body's end: uvicorn has stopped its clock for it.
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._at, self._head_bytes = _HEAD, 0
        if self._expected is None:
            self._expect(self.head_s)
        self._extensions = {}
        self.scope["extensions"] = self._extensions

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._at is _HEAD:  # else it is a trailer, which a proxy does not look at
            super().on_header(name, value)

    def on_body(self, body: bytes) -> None:
        self._framing_bytes = 0
        self._pieces += 1
        super().on_body(body)

    def stay(self, rest: bytes) -> None:
        """Read the request that asks for another protocol as if it did not, and what follows it."""
        self._is_upgrade = False
        if self.transport.is_closing():
            return
        old = self.parser
        head = [b"%b %b HTTP/%b" % (old.get_method(), self.url, old.get_http_version().encode())]
        head += [b"%b: %b" % header for header in self.headers if header[0] != b"upgrade"]
        self.parser = _Parser(self)
        self.parser.feed_data(b"\r\n".join([*head, b"", rest]))

    def on_headers_complete(self) -> None:
        if self.parser.should_upgrade():
            self._check()
            self._is_upgrade = True
            return
        self._at, self._framing_bytes, self._pieces = _BODY, 0, 0
        self._expect(None)
        if not self._is_idle:
            self.transport.abort()
            raise UnsoundRequestError("behind an open response")  # or its body would go to that
        if self._client_socket is not None and self._client_socket.is_waited_for:
            cut(self.transport)
            raise UnsoundRequestError("before the answer to the last one was read")
        self._check()
        # Not before: until here the one of the stream that is open watches.
        self._client_socket = ClientSocket(self.transport)
        self._extensions[SOCKET_EXTENSION] = self._client_socket
        super().on_headers_complete()
        if not self.cycle.keep_alive:
            self._close_with(self.cycle)
        # Weak, or the request would hold itself.
        self._extensions[BODY_EXTENSION] = functools.partial(_body, weakref.ref(self.cycle))

    def on_message_complete(self) -> None:
        if self._is_upgrade:
            return
        self._at = _END
        self._expect(None)
        super().on_message_complete()
        self.flow.resume_reading()  # nobody may ask for more, and a client's end is to be seen
        if self._client_socket is not None:
            self._client_socket.is_heard = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._at is _BODY:
            self._expect(BODY_S)

    def look(self, now: float, stall_s: float) -> None:
        """Cut a client that vanished, or took nothing for so long of what waits for it.

        The kernel is asked when one of the two may be so, and not before.
        """
        if now < self._look_at:
            return
        seen = look(self.transport)
        if seen is None:
            self._look_at = now + stall_s
            return
        if not seen.waits or seen.acked_bytes != self._acked_bytes:
            self._acked_bytes, self._took_at = seen.acked_bytes, now
        self._look_at = now + min(seen.vanishes_in_s, stall_s / _LOOKS)
        took_ago_s = now - self._took_at
        is_stalled = took_ago_s >= stall_s
        if seen.vanishes_in_s < 0 or is_stalled:
            if self._client_socket is not None:
                # Who does not read answers each probe of its closed window; who vanished does not.
                # Between two of them lies longer and longer, so there may have been none.
                is_heard = not seen.is_asked or seen.silent_s < took_ago_s - _COARSE_S
                self._client_socket.stalled = is_stalled and is_heard
            cut(self.transport)

    def shutdown(self) -> None:
        self._enter()  # what came is answered
        client = self._client_socket
        if client is None:
            super().shutdown()
        elif self._is_idle:
            _Closing(self.transport, client).close()
        else:
            super().shutdown()
            self._close_with(self.cycle)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, but for one whose client still takes its last answer."""
        client = self._client_socket
        if client is not None and not self.transport.is_closing():
            client.when_taken(super().timeout_keep_alive_handler)
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP request, in the words of all other refusals."""
        if self.transport.is_closing():
            return
        if not self._is_idle and self.cycle.response_started:
            self.transport.abort()  # nothing may be written into a response that has begun
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

    def _close_with(self, cycle: RequestResponseCycle) -> None:
        """Have the connection end with this response, once its client has it."""
        client = self._client_socket
        if client is not None:
            cycle.transport = _Closing(self.transport, client)  # type: ignore[assignment]

    def _refuse_body(self, why: str) -> None:
        if self._is_idle:  # it has its answer
            self.transport.close()
        else:
            self.send_400_response(why)

    @property
    def _is_idle(self) -> bool:
        """Whether no response is under way. There may not have been any yet."""
        return getattr(self.cycle, "response_complete", True)

    def _expect(self, within_s: float | None) -> None:
        """Wait for something for so long; None: it is there."""
        if self._expected is not None:
            self._expected.cancel()
            self._expected = None
        if within_s is not None and not self.transport.is_closing():
            self._expected = self.loop.call_later(within_s, self.transport.close)

    def _check(self) -> None:
        """Look at what the parser lets through, though a proxy in front may take it otherwise.

        Raises:
            UnsoundRequestError: which the parser turns into an error of its own, so into a 400.

        """
        hosts: list[bytes] = []
        size = len(self.url) + _LINE * len(self.headers)
        for name, value in self.headers:
            size += len(name) + len(value)
            if name == b"host":
                hosts.append(value)
        if size > HEAD_BYTES_MAX or len(self.headers) > HEADERS_MAX:
            raise UnsoundRequestError("the head is too large")
        if not self.url.startswith(b"/") or self.parser.get_method() == b"CONNECT":
            raise UnsoundRequestError("the target is no path")
        is_old = self.parser.get_http_version() == "1.0"
        if len(hosts) > 1 or not (hosts or is_old):
            raise UnsoundRequestError("not one host")
        if hosts and _HOST.fullmatch(hosts[0]) is None:
            raise UnsoundRequestError("a host that is none")
        if is_old and any(name == b"transfer-encoding" for name, _ in self.headers):
            raise UnsoundRequestError("HTTP/1.0 knows no chunks")
