"""A line to a Redis on loopback: a reply comes a millisecond late, as from another machine.

`python -m turnwire_lab.bench.late PORT TO_PORT`

Both ways take half of that. The line also records and repeats, to give a Redis the same work
without the gateway that makes it. It answers each line of its input with the same line:

- `record`: from now on it keeps what goes to the Redis, and when.
- `repeat`: from now on it sends the Redis what it recorded, at the same times.
- `rest`: it does neither any more, and the Redis is empty.
"""

import asyncio
import sys
from typing import Final, TypeAlias

from turnwire_lab.process import HOST

LATE_S: Final = 0.001
RECORD: Final = b"record"
REPEAT: Final = b"repeat"
REST: Final = b"rest"

_EMPTY: Final = b"FLUSHALL\r\n"
"""The scripts stay."""
_MOST_BYTES: Final = 64 << 20
"""Of a recording. What comes later is not kept."""
_SENT_S: Final = 0.05
"""In that time the Redis has read what was sent last."""

Recording: TypeAlias = list[tuple[float, int, bytes]]
"""Seconds from its beginning, the number of a connection, and what it sent."""


class _Way(asyncio.Protocol):
    """One end of the line. What comes here goes out at the other end, later."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._other: _Way | None = None
        self._transport: asyncio.Transport | None = None

    def join(self, other: "_Way") -> None:
        self._other = other
        for data in self._waiting:
            self._pass_on(other, data)
        self._waiting.clear()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._other is None:
            self._waiting.append(data)
        else:
            self._pass_on(self._other, data)

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    @staticmethod
    def _pass_on(other: "_Way", data: bytes) -> None:
        asyncio.get_running_loop().call_later(LATE_S / 2, other.write, data)

    def connection_lost(self, _exc: Exception | None) -> None:
        self._transport = None
        if self._other is not None:
            self._other.close()


class _Accepted(_Way):
    def __init__(self, line: "Line") -> None:
        super().__init__()
        self._line = line
        self._number = line.new_number()
        self._dial: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._dial = asyncio.create_task(self._connect())

    def data_received(self, data: bytes) -> None:
        self._line.keep(self._number, data)
        super().data_received(data)

    async def _connect(self) -> None:
        back = await self._line.dial()
        back.join(self)
        self.join(back)


class _Unheard(asyncio.Protocol):
    """A connection of a recording that is repeated. Nobody wants its replies."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.is_answered = asyncio.Event()

    def data_received(self, _data: bytes) -> None:
        self.is_answered.set()


class Line:
    """Carries connections to a port of loopback."""

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._recording: Recording = []
        self._is_recording = False
        self._began = 0.0
        self._bytes = 0
        self._last = 0
        self._repeating: asyncio.Task[None] | None = None

    async def serve(self, port: int) -> None:
        """Take connections at another port, for ever."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Accepted(self), HOST, port)
        await server.serve_forever()

    def new_number(self) -> int:
        self._last += 1
        return self._last

    async def dial(self) -> _Way:
        loop = asyncio.get_running_loop()
        _, back = await loop.create_connection(_Way, HOST, self._to_port)
        return back

    def keep(self, number: int, data: bytes) -> None:
        """Add this to a recording, if there is one."""
        if self._is_recording and self._bytes < _MOST_BYTES:
            at_s = asyncio.get_running_loop().time() - self._began
            self._recording.append((at_s, number, data))
            self._bytes += len(data)

    async def obey(self, order: bytes) -> None:
        await self._rest()
        if order == RECORD:
            self._recording = []
            self._bytes = 0
            self._began = asyncio.get_running_loop().time()
            self._is_recording = True
        elif order == REPEAT:
            numbers = {number for _, number, _ in self._recording}
            connections = {number: await self._unheard() for number in numbers}
            self._repeating = asyncio.create_task(self._repeat(connections))

    async def _rest(self) -> None:
        self._is_recording = False
        if self._repeating is not None:
            self._repeating.cancel()
            await asyncio.wait([self._repeating])
            self._repeating = None
            await asyncio.sleep(_SENT_S)
        connection = await self._unheard()
        connection.transport.write(_EMPTY)
        await connection.is_answered.wait()
        connection.transport.close()

    async def _unheard(self) -> _Unheard:
        loop = asyncio.get_running_loop()
        _, made = await loop.create_connection(_Unheard, HOST, self._to_port)
        return made

    async def _repeat(self, connections: dict[int, _Unheard]) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            for at_s, number, data in self._recording:
                await asyncio.sleep(max(0.0, began + at_s - loop.time()))
                connections[number].transport.write(data)
        finally:
            for each in connections.values():
                each.transport.close()


async def _obey(line: Line) -> None:
    """Do what the input says, until it ends."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while order := (await reader.readline()).strip():
        await line.obey(order)
        sys.stdout.buffer.write(order + b"\n")
        sys.stdout.buffer.flush()


async def _main(port: int, to_port: int) -> None:
    line = Line(to_port)
    await asyncio.gather(line.serve(port), _obey(line))


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), int(sys.argv[2])))
