"""The way to the client: writes from a callback, and what to do when its buffer is full.

`write` is called from the agent's socket callback, which cannot await. So the
ASGI `send` is stepped at once. Nearly always it runs through: the bytes are in
the client's socket buffer, and no task was needed. When it yields, that buffer
is full: a task finishes that send, then writes what was held meanwhile, and
whoever feeds this writer is told to stop until then.

Measured when this was chosen: 2.6 to 3.4 times the frames per second of a task
or a queue per write, and no delay.
"""

import asyncio
import math
import types
from collections import deque
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    MutableMapping,
    Sequence,
)
from typing import Any, Final, Protocol, TypeAlias

from turnwire.relay.budget import Hold, Holder
from turnwire.relay.sockets import ClientSocket

Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_DONE: Final = object()
_PIECE_BYTES: Final = 65_536
_WHOLE_BYTES: Final = 262_144
"""A longer write goes in pieces, so that a slow client's progress can be seen."""


class Flow(Protocol):
    """Who feeds the writer, and is told how the client takes it."""

    def client_blocked(self) -> None: ...

    def client_progressed(self) -> None: ...

    def client_unblocked(self) -> None: ...

    def client_held(self, held_bytes: int) -> None:
        """`held_bytes` came in since the client blocked, and wait for it."""
        ...

    def client_overflowed(self) -> None:
        """What waits for the client is more than the process has room for."""
        ...


class Body(Protocol):
    """The server's own ways to write a body, past all that stands before it, where it is ours."""

    along: bytes
    """What is to go out with the head, in its write; the server takes it from here."""

    async def send(self, message: Message, /) -> None:
        """As the ASGI `send`, for all but the head."""
        ...

    def write(self, data: bytes, /) -> bool:
        """Write a part of the body at once. False: nothing was written, `send` it."""
        ...

    def end(self, data: bytes, /) -> bool:
        """The same with the last part."""
        ...


class _Nobody:
    """Feeds no writer any more."""

    def client_blocked(self) -> None: ...

    def client_progressed(self) -> None: ...

    def client_unblocked(self) -> None: ...

    def client_held(self, held_bytes: int) -> None: ...

    def client_overflowed(self) -> None: ...


_NOBODY: Final = _Nobody()


class ClientWriter:
    """Writes the response. The headers go out before the first write.

    `body` is a shorter way than `send` for all but the headers, where there is one. `holder` is
    told of all that waits for a client that is blocked: what the writer has, and the server.
    """

    __slots__ = (
        "_body",
        "_end_now",
        "_flow",
        "_headers",
        "_held_bytes",
        "_hold",
        "_holder",
        "_is_ended",
        "_left",
        "_pending",
        "_send",
        "_send_body",
        "_socket",
        "_status",
        "_taken",
        "_unblocking",
        "_waiting_bytes",
        "_write_now",
        "bytes_written",
        "started",
    )

    def __init__(
        self,
        send: Send,
        headers: list[tuple[bytes, bytes]],
        flow: Flow,
        client_socket: ClientSocket | None = None,
        body: Body | None = None,
        *,
        holder: Holder | None = None,
        status: int = 200,
    ) -> None:
        self.started = False
        self.bytes_written = 0
        self._send = send
        self._send_body = send if body is None else body.send
        self._body = body
        self._write_now = _not_now if body is None else body.write
        self._end_now = _not_now if body is None else body.end
        self._headers = headers
        self._status = status
        self._holder = holder
        self._hold: Hold | None = None
        """Of most nothing is ever held."""
        self._flow: Flow = flow
        self._pending: deque[bytes] | None = None
        """What the client cannot take yet. Most never have any, and a deque takes 700 bytes."""
        self._is_ended = False
        """Whether the end of the response went out, or will with what is under way."""
        self._unblocking: asyncio.Task[None] | None = None
        self._held_bytes = self._waiting_bytes = 0
        """What came since the client blocked; and all that waits, of the write that blocked too."""
        self._socket = client_socket
        self._taken = 0
        """Messages that the server took, to see a client's progress by where there is no socket."""
        self._left: float = math.inf

    @property
    def blocked(self) -> bool:
        return self._unblocking is not None

    def write(self, data: bytes, *, is_last: bool = False) -> None:
        """Write, or hold what the client cannot take yet.

        With `is_last` the end of the response goes along, if it can: a write fewer. `finish`
        is called all the same.
        """
        self.bytes_written += len(data)
        if self._unblocking is not None:
            self._keep(_pieces(data))
            self._held_bytes += len(data)
            self._flow.client_held(self._held_bytes)
            self._count()
        elif len(data) <= _WHOLE_BYTES:
            self._is_ended = is_last
            if not (self._end_now if is_last else self._write_now)(data):
                self._go(self._message(data, is_last=is_last))
        else:
            self._go_in_pieces(_pieces(data))

    def _go_in_pieces(self, pieces: list[bytes]) -> None:
        for i, piece in enumerate(pieces):
            if not self._go(self._message(piece), pieces[i + 1 :]):
                return

    def _go(self, sending: Coroutine[Any, Any, None], more: Sequence[bytes] = ()) -> bool:
        """Send at once. False: the client's buffer is full; a task goes on, with `more` too."""
        waits_for = _step(sending)
        if waits_for is _DONE:
            return True
        self._keep(more)
        task = asyncio.get_running_loop().create_task(self._unblock(sending, waits_for))
        self._unblocking = task
        self._flow.client_blocked()
        self._count()
        return False

    def _keep(self, pieces: Sequence[bytes]) -> None:
        if self._pending is None:
            self._pending = deque()
        self._pending += pieces
        self._waiting_bytes += sum(map(len, pieces))

    def _count(self) -> None:
        """Have all counted that waits for the client."""
        if self._hold is None:
            if self._holder is None:
                return
            self._hold = self._holder.hold(self._flow.client_overflowed)
        unwritten = 0 if self._socket is None else self._socket.unwritten_bytes
        if not self._hold.set(self._waiting_bytes + unwritten):
            self._flow.client_overflowed()

    def _count_nothing(self) -> None:
        if self._hold is not None:
            self._hold.set(0)

    def progressed(self) -> bool:
        """Whether the client took anything since this was last asked."""
        left = float(-self._taken)
        if self._socket is not None:  # what is written meanwhile is no step back
            left = self._waiting_bytes + self._socket.unsent_bytes() - self.bytes_written
        before, self._left = self._left, left
        return left < before

    async def finish(self, patience_s: float) -> bool:
        """End the response. False: the client read nothing for `patience_s` seconds, or was cut."""
        if self._unblocking is None:
            if self._is_ended:
                return True
            last = self._last()
            waits_for = _step(last)
            if waits_for is _DONE:
                return True
            rest = _finished(last, waits_for)
        else:
            rest = self._last(self._unblocking)
        ending = asyncio.get_running_loop().create_task(rest)
        self._unblocking = ending
        self._count()
        self.progressed()
        while True:
            done, _ = await asyncio.wait({ending}, timeout=patience_s)
            if done:
                self._count_nothing()
                return not ending.cancelled()
            if not self.progressed():
                return False

    def cut(self) -> None:
        """Close the connection over what the client has not read."""
        self.discard()
        if self._socket is not None:
            self._socket.cut()

    async def settled(self) -> None:
        """After `cut`: the server must see the client's end before the response's."""
        await asyncio.sleep(0)

    def leave(self) -> None:
        """Write nothing more, and let go of who fed this.

        A writer and its feeder that held each other would wait for the garbage collector,
        which looks at what has lived for long only after hundred thousands of streams.
        """
        self.discard()
        if self._hold is not None:
            self._hold.drop()
            self._hold = None
        self._holder = None
        self._flow = _NOBODY

    def discard(self) -> None:
        """Write nothing more."""
        self._pending = None
        self._waiting_bytes = 0
        self._count_nothing()
        if self._unblocking is not None:
            self._unblocking.cancel()

    async def _message(self, data: bytes, *, is_last: bool = False) -> None:
        if not self.started:
            self.started = True
            start = {
                "type": "http.response.start",
                "status": self._status,
                "headers": self._headers,
            }
            if self._body is None:
                await self._send(start)
            else:
                self._body.along = data
                await self._send(start)
                data, self._body.along = self._body.along, b""
        if data or is_last:
            body = {"type": "http.response.body", "body": data, "more_body": not is_last}
            await self._send_body(body)
        self._taken += 1

    async def _unblock(self, sending: Coroutine[Any, Any, None], waits_for: Any) -> None:
        await _rest(sending, waits_for)
        self._flow.client_progressed()
        while self._pending:
            piece = self._pending.popleft()
            await self._message(piece)
            self._waiting_bytes -= len(piece)
            self._count()
            self._flow.client_progressed()
        self._held_bytes = 0
        self._count_nothing()
        self._unblocking = None
        self._flow.client_unblocked()

    async def _last(self, unblocking: asyncio.Task[None] | None = None) -> None:
        if unblocking is not None:
            await unblocking
        if not self._is_ended:
            await self._send_body({"type": "http.response.body", "body": b"", "more_body": False})


def _not_now(_: bytes) -> bool:
    return False


def _pieces(data: bytes) -> list[bytes]:
    if len(data) <= _WHOLE_BYTES:
        return [data]
    return [data[i : i + _PIECE_BYTES] for i in range(0, len(data), _PIECE_BYTES)]


def _step(sending: Coroutine[Any, Any, None]) -> Any:
    """Run a coroutine until it waits. Returns what it waits for, `_DONE` if for nothing."""
    try:
        return sending.send(None)
    except StopIteration:
        return _DONE


async def _finished(sending: Coroutine[Any, Any, None], waits_for: Any) -> None:
    """`_rest`, for a task."""
    await _rest(sending, waits_for)


@types.coroutine
def _rest(sending: Coroutine[Any, Any, None], waits_for: Any) -> Generator[Any, Any, None]:
    """Go on with a coroutine that was stepped: first hand the loop what it already waits for."""
    try:
        yield waits_for
    except asyncio.CancelledError:
        sending.close()
        raise
    yield from sending
