"""One reader of a turn log, as the connection of a stream, and the transport that opens it."""

import asyncio
from collections.abc import Iterator
from typing import ClassVar, Final, Protocol

from turnwire.core.bounds import LONG_BYTES
from turnwire.core.connect import ConnectRequest
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.agent.port import AgentTarget, Connection, KeepsNoConnection, Listener, Scheme
from turnwire.relay.memory_budget import Reservation
from turnwire.relay.rounds import Rounds, Slices
from turnwire.relay.turn_log.port import ChatKey, TurnLog


class FrameSource(Protocol):
    """Where a reader gets its frames from."""

    def open_frame(self) -> Iterator[bytes | None]:
        """Yield None after each step, and in the end the first frame of the reader."""
        ...

    def next_frame(self) -> bytes | None:
        """Return the next frame; None: there is none yet, and `LogConnection.wake` will follow."""
        ...

    def close(self) -> None:
        """The reader has left."""
        ...


class FixedSource:
    """The `FrameSource` of a reader that gets one frame, and nothing after it."""

    def __init__(self, frame: bytes) -> None:
        self._frame = frame

    def open_frame(self) -> Iterator[bytes | None]:
        yield self._frame

    def next_frame(self) -> None:
        """Return nothing: the first frame is all."""

    def close(self) -> None: ...


class LogConnection:
    """A `Connection` that carries the frames of a source. What it sends goes nowhere."""

    brings_frames: bool = False
    unwritten_bytes = 0

    def __init__(
        self, source: FrameSource, listener: Listener, reservation: Reservation, rounds: Rounds
    ) -> None:
        self._source = source
        self._listener = listener
        self._reservation = reservation
        self._slices = Slices(rounds)
        self._is_closed = self._is_begun = self._is_waking = False

    def begin(self) -> None:
        """Tell the listener that the connection is open, and give it what there is."""
        self._listener.agent_opened(self)
        self._wake()

    def wake(self) -> None:
        """Note that the source has more frames. They are delivered after the current callback."""
        if not self._is_waking:
            self._is_waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def leave(self, why: DisconnectReason) -> None:
        """The source has lost the turn."""
        if not self._is_closed:
            self.close()
            self._listener.agent_left(why, None)

    # Calls of the stream.

    def send(self, frames: object) -> None: ...

    def pause(self) -> None:
        self._slices.set_paused(is_paused=True)

    def resume(self) -> None:
        if not self._is_closed:
            self._slices.set_paused(is_paused=False)
            self.wake()

    def may_open_late(self) -> bool:
        return False

    def finish(self) -> None:
        self.close()

    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._slices.drop()
            self._reservation.set(0)
            self._source.close()

    def _wake(self) -> None:
        """Deliver the frames that the source has, in slices."""
        self._is_waking = False
        if not self._is_closed and not self._slices.has_work:
            self._slices.begin(self._deliver())

    def _deliver(self) -> Iterator[None]:
        try:
            if not self._is_begun:
                yield from self._open()
            while not self._is_closed and (frame := self._source.next_frame()) is not None:
                yield from self._give(frame)
        except Exception:  # else the stream would wait for ever
            self.leave(DisconnectReason.BROKEN)
            raise
        self._slices.drop()  # so that `wake` begins anew

    def _open(self) -> Iterator[None]:
        for frame in self._source.open_frame():
            if frame is not None:
                self._is_begun = True
                yield from self._give(frame)
            yield

    def _give(self, frame: bytes) -> Iterator[None]:
        if len(frame) <= LONG_BYTES:
            self._listener.agent_frames([frame])
            yield
        elif self._reservation.set(len(frame)):
            yield from self._listener.agent_long_frame(frame)
            self._reservation.set(0)
        else:
            self.leave(DisconnectReason.NO_ROOM)


LOG_TARGET: Final = AgentTarget("", {})
"""What a `LogTransport` is asked to connect to: the log needs no address."""


class LogTransport(KeepsNoConnection):
    """A `Transport` whose connections read one chat of a log, whatever they are asked for."""

    name: ClassVar[str] = "turn-log"
    scheme: ClassVar[Scheme] = Scheme("turn-log")
    status_is_answer: ClassVar[bool] = False

    def __init__(self, turn_log: TurnLog, key: ChatKey) -> None:
        self._turn_log = turn_log
        self._key = key

    @classmethod
    def check(cls, request: ConnectRequest | AgentTarget, /) -> None:
        """Every request can open a connection."""

    async def open(
        self, _target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> Connection:
        return await self._turn_log.open(self._key, listener, reservation)
