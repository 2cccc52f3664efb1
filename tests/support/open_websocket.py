"""A WebSocket past its handshake, without a socket below it and without a stream above it."""

import asyncio
from collections.abc import Iterator, Sequence

from websockets.http11 import Request
from websockets.server import ServerProtocol

from support.dialled import Counting
from turnwire.core.bounds import LONG_BYTES
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.websocket_connection import WebSocketConnection
from turnwire.relay.memory_budget import Budget
from turnwire.relay.rounds import Rounds

LONGEST = 70_000


URL = "ws://127.0.0.1/"


SIZES = [0, 1, 2, 125, 126, 127, 200, 65_535, 65_536, LONGEST, LONGEST + 1]


def head(first: int, size: int, mask: bool) -> bytes:  # noqa: FBT001 (a bit of the frame)
    bit = 0x80 if mask else 0
    if size < 126:
        return bytes([first, size | bit])
    if size < 65_536:
        return bytes([first, 126 | bit]) + size.to_bytes(2, "big")
    return bytes([first, 127 | bit]) + size.to_bytes(8, "big")


def plain(size: int) -> bytes:
    return head(0x81, size, mask=False) + b"x" * size


class RecordingListener(Counting):
    """A listener that keeps the frames and the end of its connection."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[bytes] = []
        self.ends: list[str] = []

    def agent_refused(
        self, why: DialFailure, status: int | None, _retry_after_s: float | None
    ) -> None:
        self.ends.append(f"{why} {status}")

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        self.frames += frames

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        assert len(frame) > LONG_BYTES
        yield
        self.frames.append(frame)

    def agent_left(self, why: DisconnectReason, code: int | None) -> None:
        self.ends.append(f"{why.value} {code}")


class MemoryTransport(asyncio.Transport):
    """Keeps what a connection writes, and whether it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.reads = True
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


def connected(
    wire: MemoryTransport | None = None,
) -> tuple[WebSocketConnection, RecordingListener, Budget]:
    """An upstream past its handshake."""
    listener, wire, budget = RecordingListener(), wire or MemoryTransport(), Budget()
    upstream = WebSocketConnection(
        URL,
        {},
        listener,
        subprotocols=(),
        frame_bytes=LONGEST,
        reservation=budget.holder("u1").reserve(),
        rounds=Rounds(),
    )
    upstream.connection_made(wire)
    server = ServerProtocol()
    server.receive_data(bytes(wire.written))
    (request,) = server.events_received()
    assert isinstance(request, Request)
    server.send_response(server.accept(request))
    upstream.data_received(b"".join(server.data_to_send()))
    return upstream, listener, budget


async def settled(upstream: WebSocketConnection) -> None:
    """Wait until all that was read is delivered."""
    while upstream._slices.has_work:  # noqa: ASYNC110 (rounds of the loop are what it waits for)
        await asyncio.sleep(0)
