"""A server of a test's own, on a port that nobody else has."""

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Listening(ABC):
    """`async with` it: whoever connects to `port` is conversed with."""

    port: int

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._converse, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        await self._server.wait_closed()

    @abstractmethod
    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None: ...
