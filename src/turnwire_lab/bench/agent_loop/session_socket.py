"""A gateway's end of a socket, as light as it can be: the rig shares one core with the server."""

import asyncio
import json
from typing import Final, cast

from turnwire_lab.bench.agent_loop.stamps import ages_us
from turnwire_lab.bench.programs import NotStartedError
from turnwire_lab.process import HOST

PATIENCE_S: Final = 60.0

_SHORT: Final = 126
_LONG: Final = 127
_TEXT: Final = b'{"type":"message.part.text-delta"'
_WORDS: Final = b'"delta":"'
_KINDS: Final = {
    b'{"type":"init"': "init",
    b'{"type":"question"': "question",
    b'{"type":"complete"': "complete",
    b'{"type":"message.part.retract"': "retract",
}


class SessionSocket(asyncio.Protocol):
    """One session. Times are those of the event loop."""

    def __init__(self) -> None:
        self.ages_us: list[int] = []
        """Of the chunks of text, in their order."""
        self._arrivals: dict[str, asyncio.Future[None]] = {}
        self._wanted = 0
        self._enough: asyncio.Future[None] | None = None
        self._buffer = bytearray()
        self._upgraded = False
        self._transport: asyncio.Transport

    @classmethod
    async def open(cls, port: int, session: str) -> "SessionSocket":
        """Open a socket, and read its `init`."""
        loop = asyncio.get_running_loop()
        _, socket = await loop.create_connection(cls, HOST, port)
        socket.send(
            f"GET /api/sessions/{session}/ws?role=client HTTP/1.1\r\nHost: {HOST}:{port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        await socket.until("init")
        return socket

    def ask(self, content: str = "hello") -> None:
        """Send a prompt."""
        frame = json.dumps({"type": "prompt", "content": content, "promptId": "p1"}).encode()
        # Masked with nothing, which is a mask, too.
        self.send(bytes((0x81, 0x80 | len(frame))) + bytes(4) + frame)

    def send(self, data: bytes) -> None:
        self._transport.write(data)

    async def until(self, kind: str) -> None:
        """Wait for the first frame of a kind.

        Raises:
            NotStartedError: it does not come.

        """
        await _in_time(self._future(kind), kind)

    async def chunks(self, count: int) -> None:
        """Wait for so many chunks of text, in all.

        Raises:
            NotStartedError: they do not come.

        """
        self._wanted = count
        self._enough = asyncio.get_running_loop().create_future()
        self._count()
        await _in_time(self._enough, f"{count} chunks")

    def close(self) -> None:
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is none by its class

    def connection_lost(self, _: Exception | None) -> None:
        for each in (*self._arrivals.values(), self._enough):
            if each is not None and not each.done():
                each.set_exception(NotStartedError("the socket was closed"))
                each.exception()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if not self._upgraded:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                return
            if b" 101 " not in head:
                self._transport.abort()
                return
            self._upgraded, self._buffer = True, rest
        at = 0
        while (frame := self._frame(at)) is not None:
            at, payload = frame
            self._take(payload)
        del self._buffer[:at]

    def _frame(self, at: int) -> tuple[int, bytes] | None:
        """Where the next frame ends, and what is in it; None: it is not whole."""
        buffer = self._buffer
        if len(buffer) < at + 2:
            return None
        length, begin = buffer[at + 1], at + 2
        if length in (_SHORT, _LONG):
            size = 2 if length == _SHORT else 8
            length = int.from_bytes(buffer[begin : begin + size])
            begin += size
        if len(buffer) < begin + length:
            return None
        return begin + length, bytes(buffer[begin : begin + length])

    def _take(self, payload: bytes) -> None:
        if payload.startswith(_TEXT):
            self.ages_us += ages_us(payload[payload.index(_WORDS) :])
            self._count()
            return
        kind = _KINDS.get(payload[: payload.find(b'"', 9) + 1])
        if kind is not None and not (arrival := self._future(kind)).done():
            arrival.set_result(None)

    def _count(self) -> None:
        enough = self._enough
        if enough is not None and not enough.done() and len(self.ages_us) >= self._wanted:
            enough.set_result(None)

    def _future(self, kind: str) -> asyncio.Future[None]:
        if kind not in self._arrivals:
            self._arrivals[kind] = asyncio.get_running_loop().create_future()
        return self._arrivals[kind]


async def _in_time(fact: asyncio.Future[None], what: str) -> None:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.shield(fact)
    except TimeoutError:
        raise NotStartedError(f"{what}: not within {PATIENCE_S:g} s") from None
