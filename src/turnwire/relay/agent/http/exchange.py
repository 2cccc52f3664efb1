"""One connection of the transport `http`: a request, and the events of its response.

`HttpExchange` reads in the socket's own callback, all events of one read at once, and calls its
`Listener`: no task and no queue stand between the socket and the `Turn`. If a read brings more work
than one time slice, the rest runs in later slices (`rounds`), and the socket is not read meanwhile.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from typing import Final

import structlog

from turnwire.core.bounds import LONG_BYTES
from turnwire.relay.agent.dialer import Address, Dialler
from turnwire.relay.agent.failures import DialError, DialFailure, DisconnectReason
from turnwire.relay.agent.http.delivery import Delivery
from turnwire.relay.agent.http.incoming import Incoming
from turnwire.relay.agent.http.pool import HttpStats, Pool
from turnwire.relay.agent.http.reads import SHORT_BYTES, is_quick, pieces
from turnwire.relay.agent.http.refusal import excerpt, retry_after_s
from turnwire.relay.agent.http.request import RequestWriter
from turnwire.relay.agent.http.socket import HttpSocket
from turnwire.relay.agent.port import AgentTarget, Listener
from turnwire.relay.memory_budget import Reservation
from turnwire.relay.rounds import Slices

EXCERPT_S: Final = 0.5
"""Longest wait for the body of a refusal, for the log, in seconds."""

_LAST_STEPS: Final = 8
"""Most steps of a slice that are run at once behind the end of the turn."""

_ACCEPTED: Final = AgentTarget("", {})  # nobody asks for the target any more
_log = structlog.get_logger("turnwire.agent")


class HttpExchange:
    """One request and its response, from the first byte written to the last one read."""

    __slots__ = (
        "_address",
        "_delivery",
        "_dialler",
        "_has_eof",
        "_incoming",
        "_is_lost",
        "_is_opened",
        "_is_over",
        "_is_paused",
        "_listener",
        "_pool",
        "_redialling",
        "_request",
        "_reservation",
        "_slices",
        "_socket",
        "_stats",
        "_target",
        "_timer",
        "_unread",
        "brings_frames",
    )

    def __init__(
        self,
        target: AgentTarget,
        address: Address,
        listener: Listener,
        *,
        dialler: Dialler,
        pool: Pool,
        stats: HttpStats,
        frame_bytes: int,
        reservation: Reservation,
    ) -> None:
        self._target = target
        """Its body is dropped when the kernel has it, and all of it when the agent accepts."""
        self._address = address
        self._listener = listener
        self._dialler = dialler
        self._pool = pool
        self._stats = stats
        self._reservation = reservation
        self._socket: HttpSocket | None = None
        self._request: RequestWriter | None = RequestWriter(target)
        """None when the kernel has all of it."""
        self._delivery = Delivery(listener, reservation)
        self._incoming = Incoming(target.accept, frame_bytes)
        self._slices = Slices(dialler.rounds)
        """The unfinished work of past reads. The socket is not read meanwhile."""
        self._unread: list[bytes] = []
        """Reads that came in while there was unfinished work."""
        self._timer: asyncio.TimerHandle | None = None
        self._redialling: asyncio.Task[None] | None = None
        self._has_eof = self._is_lost = False
        """Whether the server closed its side in order; whether the socket is closed."""
        self._is_opened = self.brings_frames = False
        """Whether the listener counts the connection as open; whether frames came with the yes."""
        self._is_paused = self._is_over = False
        """Whether the listener is not called any more."""

    def begin(self, socket: HttpSocket) -> None:
        """Send the request on this socket, which no one else uses."""
        self._socket = socket
        socket.user = self
        if socket.is_closing:
            socket.user = None
            self.connection_lost()
            return
        self._write()

    # Calls of the stream.

    def send(self, frames: Sequence[bytes]) -> None:
        """Never called: a dialect of this transport has nothing to send after its request."""
        raise NotImplementedError(f"{len(frames)} frames for an HTTP response")

    @property
    def unwritten_bytes(self) -> int:
        request, socket = self._request, self._socket
        if request is None or socket is None:
            return 0
        return request.remaining_bytes + socket.unwritten_bytes

    def pause(self) -> None:
        self._is_paused = True
        self._slices.set_paused(is_paused=True)
        self._update_reading()

    def resume(self) -> None:
        self._is_paused = False
        self._update_reading()
        self._slices.set_paused(is_paused=False)

    def may_open_late(self) -> bool:
        if self._incoming.refusal is not None:
            self._tell_refusal()
        if self._is_over or self._socket is None:
            return False
        self._is_opened = True
        self._stats.late_heads += 1
        return True

    def finish(self) -> None:
        """Leave the rest of the response to the pool, which keeps the socket then."""
        if not self._is_over:
            self._slices.run_out(_LAST_STEPS)  # what ended the turn may have ended a slice
        socket = self._socket
        if (
            self._is_over
            or socket is None
            or not self._incoming.is_accepted
            or self._request is not None
            or self._slices.has_work
        ):
            self.close()
            return
        self._discard()
        self._pool.keep_after_rest(self._address, socket, self._incoming.response)

    def close(self) -> None:
        """Close the socket at once, whatever was not read: on this wire that is the abort."""
        if self._is_over:
            return
        socket = self._socket
        self._discard()
        self._incoming.response.close()
        if socket is not None:
            socket.abort()

    # Callbacks of the socket.

    def data_received(self, data: bytes) -> None:
        if (
            (len(data) > SHORT_BYTES and not is_quick(data))
            or self._reservation.held_bytes + len(data) > LONG_BYTES
            or self._slices.has_work
        ):
            self._receive_in_slices(data)
            return
        frames = self._incoming.read(data)
        if not self._is_opened or self._incoming.refusal is not None:
            self.brings_frames = bool(frames)
            self._head_read()
        if frames and not self._is_over:
            self._delivery.deliver(frames)
        self._check_rest()

    def eof_received(self) -> None:
        self._has_eof = True
        if not self._slices.has_work:
            self._input_ended()

    def connection_lost(self) -> None:
        self._is_lost = True
        if not self._slices.has_work:
            self._input_ended()

    # The request.

    def _write(self) -> None:
        request, socket = self._request, self._socket
        if request is None or socket is None:
            return
        if request.write(socket):
            asyncio.get_running_loop().call_soon(self._write)
        elif not socket.is_write_paused and not socket.is_closing:
            self._request = None
            if self._target.body:
                self._target = _without_body(self._target)

    writing_resumed = _write

    @property
    def _may_be_sent_again(self) -> bool:
        """Whether the server cannot have got all of the request: the kernel has not.

        Only a socket that was kept fails so for no reason but its age.
        """
        socket = self._socket
        return (
            socket is not None
            and socket.is_reused
            and self._request is not None
            and self._incoming.response.is_untouched
        )

    async def _dial_again(self) -> None:
        try:
            socket = await self._dialler.dial(self._address, HttpSocket)
        except DialError as failure:
            self._fail(failure.why)
        else:
            self._has_eof = self._is_lost = False
            self._stats.sent_again += 1
            self.begin(socket)

    # The response, in time slices.

    def _receive_in_slices(self, data: bytes) -> None:
        """Process one slice now, and the rest in later slices."""
        if self._slices.has_work:
            self._unread.append(data)
            return
        self._slices.begin(self._process(data))
        if self._slices.has_work:
            self._update_reading()
            # A long frame that is being delivered may have counted this data already.
            waiting = max(self._reservation.held_bytes, len(data) + self._incoming.held_bytes)
            if not self._reservation.set(waiting):
                self._leave(DisconnectReason.NO_ROOM)

    def _process(self, data: bytes) -> Iterator[None]:
        try:
            yield from self._parse(data)
            while self._unread:
                yield from self._parse(self._unread.pop(0))
        except Exception:  # else the connection would stay open for ever
            self._slices.drop()
            if self._is_lost:
                self._input_ended()
            elif self._socket is not None:
                self._socket.cut()
            raise
        self._slices.drop()
        self._update_reading()
        if self._has_eof or self._is_lost:
            self._input_ended()

    def _parse(self, data: bytes) -> Iterator[None]:
        response, rest_bytes = self._incoming.response, len(data)
        for piece in pieces(data):
            frames = self._incoming.read(piece)
            rest_bytes -= len(piece)
            if response.is_complete and rest_bytes:
                response.is_reusable = False  # bytes behind it, which nobody parses
            if not self._is_opened or self._incoming.refusal is not None:
                self._head_read()
            yield from self._delivery.in_steps(frames)
            self._check_rest()
            if self._is_over:
                return
            yield

    def _head_read(self) -> None:
        """Tell what the head says, once it is there."""
        incoming = self._incoming
        if incoming.is_accepted:
            self._target = _ACCEPTED
            if not self._is_opened:
                self._is_opened = True
                self._listener.agent_opened(self)
        elif incoming.refusal is not None:
            if incoming.has_excerpt:
                self._tell_refusal()
            elif self._timer is None:
                loop = asyncio.get_running_loop()
                self._timer = loop.call_later(EXCERPT_S, self._tell_refusal)

    def _tell_refusal(self) -> None:
        incoming, headers = self._incoming, self._target.headers
        refusal, head = incoming.refusal, incoming.head
        assert refusal is not None
        request_id = headers.get("x-request-id")
        if head is None:
            self._fail(refusal.why)
            return
        _log.warning("the agent refused the request", reason=refusal.text, request_id=request_id)
        if incoming.excerpt:
            text = excerpt(incoming.excerpt, headers)
            _log.debug("what the agent said", body=text, request_id=request_id)
        self._fail(refusal.why, head.status, retry_after_s(head, time.time()))

    def _check_rest(self) -> None:
        """After the frames of a read: count the incomplete one, or end."""
        incoming, reservation = self._incoming, self._reservation
        if self._is_over or not incoming.is_accepted:
            return
        held_bytes = incoming.held_bytes
        if self._delivery.problem is not None:
            self._leave(self._delivery.problem)
        elif held_bytes != reservation.held_bytes and not reservation.set(held_bytes):
            self._leave(DisconnectReason.NO_ROOM)
        elif incoming.end is not None:
            self._leave(incoming.end)
        elif held_bytes > LONG_BYTES:
            self._listener.agent_frame_begun()

    def _input_ended(self) -> None:
        """Nothing more comes, and all that came was processed."""
        if self._is_over:
            return
        if self._may_be_sent_again:
            assert self._socket is not None
            self._socket.abort()
            self._socket, self._request = None, RequestWriter(self._target)
            self._redialling = asyncio.get_running_loop().create_task(self._dial_again())
            return
        frames = self._incoming.connection_closed(in_order=self._has_eof)
        if self._incoming.refusal is not None:
            self._tell_refusal()
            return
        if frames:
            self._delivery.deliver(frames)
        self._check_rest()

    # The end.

    def _leave(self, why: DisconnectReason) -> None:
        if not self._is_over:
            self._release()
            self._listener.agent_left(why, None)

    def _fail(
        self, why: DialFailure, status: int | None = None, after_s: float | None = None
    ) -> None:
        if not self._is_over:
            self._release()
            self._listener.agent_refused(why, status, after_s)

    def _release(self) -> None:
        """End for the listener. Keep the socket if another request may follow on it."""
        socket, response = self._socket, self._incoming.response
        may_be_kept = (
            response.is_complete
            and not self._unread  # bytes behind it, which nobody parses
            and self._request is None
            and not (self._has_eof or self._is_lost)
        )
        self._discard()
        response.close()
        if socket is None:
            return
        if may_be_kept:
            self._pool.keep(self._address, socket, response)
        else:
            socket.abort()

    def _discard(self) -> None:
        """Discard all that is held, and release its memory and the socket."""
        self._is_over = self._delivery.is_over = True
        self._socket = self._request = None
        self._unread.clear()
        self._slices.drop()
        self._reservation.set(0)
        if self._timer is not None:
            self._timer.cancel()
        if self._redialling is not None and self._redialling is not asyncio.current_task():
            self._redialling.cancel()

    def _update_reading(self) -> None:
        if self._socket is not None:
            is_reading = not (self._is_paused or self._slices.has_work)
            self._socket.set_reading(is_reading=is_reading)


def _without_body(target: AgentTarget) -> AgentTarget:
    return AgentTarget(target.url, target.headers, target.method, accept=target.accept)
