"""One connection of a gateway's, as a hostile agent has it."""

import asyncio
import json
import socket
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final, Self

from hostile.wire import CLOSE, TEXT, FrameReader, accepted

READ_BYTES: Final = 65_536


class GoneError(Exception):
    """The gateway closed the connection, or said that it would."""


class Line:
    """`async with Line(sock, head) as line:` has shaken hands."""

    def __init__(self, sock: socket.socket, head: bytes) -> None:
        self.path = head.split(b" ", 2)[1].decode("latin-1")
        self.written = 0
        """Bytes of frames, so far."""
        self.over_at: float | None = None
        """When the gateway closed, on the loop's clock."""
        self._head = head
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._prompted: asyncio.Future[dict[str, Any]] = self._loop.create_future()

    async def prompt(self) -> dict[str, Any]:
        """The prompt, once it is there.

        Raises:
            GoneError: the gateway left without one.

        """
        return await asyncio.shield(self._prompted)

    async def send(self, data: bytes) -> None:
        """Write all of it, as fast as it is read.

        Raises:
            GoneError: the gateway closed.

        """
        if self._over.is_set():
            raise GoneError
        try:
            await self._loop.sock_sendall(self._sock, data)
        except OSError:
            self._is_over()
            raise GoneError from None
        self.written += len(data)

    async def pour(self, blocks: Iterable[bytes], bytes_per_s: float) -> None:
        """Write blocks at that rate at most, to their end or the connection's."""
        start, count = self._loop.time(), 0
        for block in blocks:
            await self.send(block)
            count += len(block)
            ahead_s = start + count / bytes_per_s - self._loop.time()
            if ahead_s > 0:
                await asyncio.sleep(ahead_s)

    async def end(self) -> None:
        """Wait until the gateway closes."""
        await self._over.wait()

    async def __aenter__(self) -> Self:
        await self._loop.sock_sendall(self._sock, accepted(self._head))
        self._listening = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._listening.cancel()
        await asyncio.wait([self._listening])
        self._prompted.cancel()
        self._sock.close()

    def _is_over(self) -> None:
        if self.over_at is None:
            self.over_at = self._loop.time()
            self._over.set()
            if not self._prompted.done():
                self._prompted.set_exception(GoneError)
                self._prompted.exception()  # whether or not anybody waits for it

    async def _listen(self) -> None:
        ear = FrameReader()
        try:
            while data := await self._loop.sock_recv(self._sock, READ_BYTES):
                for heard in ear.hear(data):
                    if heard.opcode == CLOSE:
                        self._is_over()
                    elif heard.opcode == TEXT and not self._prompted.done():
                        self._take(heard.payload)
        except OSError:
            pass
        self._is_over()

    def _take(self, payload: bytes) -> None:
        said = json.loads(payload)
        if said.get("type") == "prompt":
            self._prompted.set_result(said)
