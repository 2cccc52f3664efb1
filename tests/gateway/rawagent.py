"""An agent that is no WebSocket server: it answers a handshake with bytes, or with nothing."""

import asyncio
from types import TracebackType

from gateway.listening import Listening
from gateway.waiting import closed, until


class RawAgent(Listening):
    """Reads the handshake's request, writes `reply`, and then closes or `hang`s."""

    def __init__(self, reply: bytes = b"", *, hang: bool = False) -> None:
        self.requests: list[bytes] = []
        self.left = 0
        """Connections that the other side closed."""
        self._reply = reply
        self._hang = hang

    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/{{session_id}}"

    async def all_left(self) -> None:
        await until(lambda: self.left == len(self.requests))

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await super().__aexit__(kind, error, traceback)
        await closed(self.port)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.requests.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(self._reply)
            await writer.drain()
            if self._hang:
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.left += 1
            writer.close()
