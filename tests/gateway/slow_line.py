"""A line to a server on loopback that takes its time, or takes everything and brings nothing."""

import asyncio
from contextlib import suppress
from types import TracebackType
from typing import Final

from gateway.listening import Listening

_READ_BYTES: Final = 65_536


class SlowLine(Listening):
    """`async with SlowLine(port) as line:`; all bytes to the server wait `delay_s` seconds."""

    def __init__(self, port: int) -> None:
        self.delay_s = 0.0
        """May be changed; it holds for what is read after that."""
        self._to_port = port
        self._conversations: set[asyncio.Task[object]] = set()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for task in self._conversations:
            task.cancel()
        await asyncio.gather(*self._conversations, return_exceptions=True)
        await super().__aexit__(kind, error, traceback)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._conversations.add(task)
        task.add_done_callback(self._conversations.discard)
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to_port)
        except OSError:
            writer.close()
            return
        try:
            ways = (self._carry(reader, back), self._carry(there, writer))
            tasks = [asyncio.create_task(way) for way in ways]
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in tasks:
                task.cancel()
        finally:
            for each in (back, writer):
                each.close()
            for each in (back, writer):
                with suppress(OSError):
                    await each.wait_closed()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_READ_BYTES):
                if self.delay_s and writer is not None:
                    await asyncio.sleep(self.delay_s / 2)  # a round trip has two ways
                writer.write(data)
                await writer.drain()
