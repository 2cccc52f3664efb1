"""A second transport, as small as one can be: frames behind their length on a plain TCP connection.

The request goes first, in two such pieces: its head in JSON, then its body. The server answers
with a status; `200` opens the connection. Its URLs begin with `framed://`.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import ClassVar, cast

import msgspec
from msgspec import Struct

from turnwire.core.bounds import LONG_BYTES
from turnwire.core.connect import ConnectRequest
from turnwire.relay.agent.dialer import AgentSocket, Dialler
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.port import AgentTarget, KeepsNoConnection, Listener, Scheme, address_of
from turnwire.relay.memory_budget import Reservation

LENGTH_BYTES = 4
OPEN = 200


class RequestHead(Struct, frozen=True):
    method: str
    url: str
    headers: Mapping[str, str]
    offered_protocols: Sequence[str]


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(LENGTH_BYTES, "big") + data


class FramedConnection(AgentSocket):
    """One connection. It gives up a frame of more than `frame_bytes`."""

    brings_frames = False

    def __init__(
        self, target: AgentTarget, listener: Listener, frame_bytes: int, reservation: Reservation
    ) -> None:
        self._target: AgentTarget | None = target
        self._listener = listener
        self._frame_bytes = frame_bytes
        self._reservation = reservation
        self._partial = b""
        self._is_open = self._is_over = False
        self._transport: asyncio.Transport | None = None

    # Calls of the stream.

    def send(self, frames: Sequence[bytes]) -> None:
        if self._transport is not None and not self._is_over:
            self._transport.writelines(map(framed, frames))

    @property
    def unwritten_bytes(self) -> int:
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def pause(self) -> None:
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._transport is not None and not self._is_over:
            self._transport.resume_reading()

    def may_open_late(self) -> bool:
        return False

    def finish(self) -> None:
        self.close()

    def close(self) -> None:
        self._is_over = True
        self._reservation.set(0)
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        self.close()
        if self._transport is not None:
            self._transport.abort()

    # Callbacks of the socket.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        target, self._target = self._target, None
        assert target is not None
        head = RequestHead(target.method, target.url, target.headers, target.offered_protocols)
        self._transport.write(framed(msgspec.json.encode(head)))
        self._transport.write(framed(target.body))

    def data_received(self, data: bytes) -> None:
        self._partial += data
        for frame in self._frames():
            if self._is_over:
                return
            if not self._is_open:
                self._answered(int(frame))
            elif len(frame) > LONG_BYTES:
                for _ in self._listener.agent_long_frame(frame):
                    pass
            else:
                self._listener.agent_frames([frame])
        if not self._is_over and not self._reservation.set(len(self._partial)):
            self._leave(DisconnectReason.NO_ROOM)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._leave(DisconnectReason.LINE_LOST)

    def _frames(self) -> Iterator[bytes]:
        while len(self._partial) >= LENGTH_BYTES:
            end = LENGTH_BYTES + int.from_bytes(self._partial[:LENGTH_BYTES], "big")
            if end > self._frame_bytes:
                self._leave(DisconnectReason.TOO_BIG)
            if end > len(self._partial):
                return
            frame, self._partial = self._partial[LENGTH_BYTES:end], self._partial[end:]
            yield frame

    def _answered(self, status: int) -> None:
        if status == OPEN:
            self._is_open = True
            self._listener.agent_opened(self)
        else:
            self.close()
            self._listener.agent_refused(DialFailure.STATUS, status, None)

    def _leave(self, why: DisconnectReason) -> None:
        if self._is_over:
            return
        self.close()
        if self._is_open:
            self._listener.agent_left(why, None)
        else:
            self._listener.agent_refused(DialFailure.HANDSHAKE, None, None)


class FramedTransport(KeepsNoConnection):
    name: ClassVar = "framed"
    scheme: ClassVar = Scheme("framed")
    status_is_answer: ClassVar = False

    def __init__(self, dialler: Dialler, *, frame_bytes: int) -> None:
        self._dialler = dialler
        self._frame_bytes = frame_bytes

    @classmethod
    def check(cls, request: ConnectRequest | AgentTarget) -> None:
        """Every request can open a connection."""

    async def open(
        self, target: AgentTarget, listener: Listener, reservation: Reservation
    ) -> FramedConnection:
        connection = partial(FramedConnection, target, listener, self._frame_bytes, reservation)
        return await self._dialler.dial(address_of(target.url, self.scheme), connection)
