"""A TCP proxy that does harm: it delays, drips, cuts, resets, half-closes and drops bytes.

It knows nothing of HTTP or WebSocket, so it fits on both sides of the gateway.
Each of the two directions has a `Way` of its own.
"""

import asyncio
import contextlib
import enum
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, assert_never

_READ_BYTES: Final = 65_536
_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER of no time at all: closing sends a reset, and throws away what was not sent."""

_IN_FLIGHT: Final = 16
"""Pieces under way in one direction; beyond it the sender is made to wait."""


class Harm(enum.Enum):
    """What happens where a `Way` ends."""

    CLOSE = "close"
    """Both sides see a clean end, once what was let through has arrived."""
    RESET = "reset"
    """Both sides see a reset."""
    HALF_CLOSE = "half-close"
    """The receiver sees a clean end; the other direction goes on."""
    SWALLOW = "swallow"
    """All later bytes are dropped, the end too: neither side notices."""
    STALL = "stall"
    """Nothing more is read, so that the sender's buffers fill."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One direction: how it goes, and where it ends.

    Each read arrives `latency_s` seconds later, in pieces of at most
    `piece_bytes` with `pause_s` seconds between them. After `cut_after` bytes
    (None: never) comes the `harm`.
    """

    latency_s: float = 0.0
    piece_bytes: int = _READ_BYTES
    pause_s: float = 0.0
    cut_after: int | None = None
    harm: Harm = Harm.CLOSE


class FaultProxy:
    """`async with FaultProxy(port, back=Way(cut_after=100)) as proxy:` listens on `proxy.port`.

    `there` is the way from the client, `back` the way to it. Both may be
    changed, and hold for those who connect after that. A subclass may choose
    the ways of each connection (`_ways`).
    """

    def __init__(self, port: int, *, there: Way | None = None, back: Way | None = None) -> None:
        self.port = 0
        self.connections = 0
        """Those that came in so far."""
        self.broken = 0
        """Ways that were cut so far."""
        self._to_port = port
        self.there = there or Way()
        self.back = back or Way()
        self._open: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def cut(self) -> None:
        """Close all open connections at once, on both sides."""
        for task in self._open:
            task.cancel()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        if self._open:
            await asyncio.wait(self._open)

    async def _ways(self) -> tuple[Way, Way]:
        """The ways of a connection that came in: there and back."""
        return self.there, self.back

    def _broke(self) -> None:
        """A way was cut."""
        self.broken += 1

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        writers = [writer]
        try:
            there, back = await self._ways()
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
            writers.append(far_writer)
            async with asyncio.TaskGroup() as group:
                group.create_task(_carry(reader, far_writer, there, writers, self._broke))
                group.create_task(_carry(far_reader, writer, back, writers, self._broke))
            for each in writers:
                each.close()
                with contextlib.suppress(OSError):
                    await each.wait_closed()
        except (OSError, asyncio.CancelledError):
            pass  # it could not connect, or is taken down
        finally:
            for each in writers:
                each.transport.abort()
            self._open.discard(task)


async def _carry(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    way: Way,
    both: Sequence[asyncio.StreamWriter],
    broke: Callable[[], None],
) -> None:
    """Carry one direction to its end."""
    under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(_IN_FLIGHT)
    reading = asyncio.create_task(_read(reader, under_way, way))
    try:
        if not await _write(writer, under_way, way):
            _half_close(writer)
            return
        broke()
        match way.harm:
            case Harm.CLOSE:
                for each in both:
                    each.close()
            case Harm.RESET:
                for each in both:
                    _reset(each)
            case Harm.HALF_CLOSE:
                _half_close(writer)
                await _throw_away(under_way)
            case Harm.SWALLOW:
                await _throw_away(under_way)
                await asyncio.Event().wait()
            case Harm.STALL:
                reading.cancel()
                await asyncio.Event().wait()
            case _:
                assert_never(way.harm)
    finally:
        reading.cancel()


async def _read(
    reader: asyncio.StreamReader, under_way: asyncio.Queue[tuple[float, bytes]], way: Way
) -> None:
    """Put what is read under way, each with the time of its arrival; nothing at the end."""
    clock = asyncio.get_running_loop().time
    data = b"-"
    while data:
        try:
            data = await reader.read(_READ_BYTES)
        except OSError:
            data = b""
        await under_way.put((clock() + way.latency_s, data))


async def _write(
    writer: asyncio.StreamWriter, under_way: asyncio.Queue[tuple[float, bytes]], way: Way
) -> bool:
    """Write what arrives. Returns whether the way was cut, rather than ended by its sender."""
    clock = asyncio.get_running_loop().time
    left = way.cut_after
    while left is None or left > 0:
        arrives, data = await under_way.get()
        await asyncio.sleep(max(0.0, arrives - clock()))
        if not data:
            return False
        data = data[:left]
        for at in range(0, len(data), way.piece_bytes):
            if writer.is_closing():  # the other direction ends it
                break
            writer.write(data[at : at + way.piece_bytes])
            with contextlib.suppress(OSError):
                await writer.drain()
            if way.pause_s:
                await asyncio.sleep(way.pause_s)
        left = None if left is None else left - len(data)
    return True


async def _throw_away(under_way: asyncio.Queue[tuple[float, bytes]]) -> None:
    """Drop all that the sender still sends."""
    while (await under_way.get())[1]:
        pass


def _half_close(writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        if writer.can_write_eof() and not writer.is_closing():
            writer.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    sock: socket.socket = writer.get_extra_info("socket")
    with contextlib.suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
    writer.transport.abort()
