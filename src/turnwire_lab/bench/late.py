"""A line to a server on loopback: its replies come a millisecond late, as from another machine.

`python -m turnwire_lab.bench.late PORT TO_PORT`
"""

import asyncio
import sys
from typing import Final

from turnwire_lab.process import HOST

LATE_S: Final = 0.001


class _Way(asyncio.Protocol):
    """One end of the line. What comes here goes out at the other end, `late_s` later."""

    def __init__(self, late_s: float) -> None:
        self._late_s = late_s
        self._waiting: list[bytes] = []
        self._other: _Way | None = None
        self._transport: asyncio.Transport | None = None

    def join(self, other: "_Way") -> None:
        self._other = other
        for data in self._waiting:
            self.data_received(data)
        self._waiting.clear()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._other is None:
            self._waiting.append(data)
        elif self._late_s:
            asyncio.get_running_loop().call_later(self._late_s, self._other.write, data)
        else:
            self._other.write(data)

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._transport = None
        if self._other is not None:
            self._other.close()


class _Accepted(_Way):
    def __init__(self, to_port: int) -> None:
        super().__init__(0)
        self._to_port = to_port
        self._dial: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._dial = asyncio.create_task(self._connect())

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        _, back = await loop.create_connection(lambda: _Way(LATE_S), HOST, self._to_port)
        back.join(self)
        self.join(back)


async def serve(port: int, to_port: int) -> None:
    """Carry connections from one port of loopback to another."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Accepted(to_port), HOST, port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
