"""Calls that somebody waits for, joined to one pipeline at a time."""

import asyncio
from collections import deque

from turnwire.relay.turn_log.redis.patience import patience
from turnwire.relay.turn_log.redis.servers import Call, Failed, Reply, Servers

_AT_ONCE = 256
"""Most calls of one pipeline."""


class Lane:
    """While one pipeline is under way, further calls gather for the next one."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._waiting: deque[tuple[Call, asyncio.Future[Reply]]] = deque()
        self._running: asyncio.Task[None] | None = None
        self._is_closed = False

    async def call(self, call: Call) -> Reply:
        """Run a call, and return its reply in `ANSWER_S` seconds, or `Failed`."""
        if self._is_closed or self._servers.is_down(call.chats[0]):
            return Failed("down")
        future = self._submit(call)
        try:
            async with patience():
                return await future
        except TimeoutError:
            return Failed("TimeoutError")

    def send(self, call: Call) -> "asyncio.Future[Reply] | None":
        """Run a call whose reply nobody waits for. It may be lost.

        Returns where the reply will be, for whoever wants to know; None if it is not run at all.
        """
        if self._is_closed or self._servers.is_down(call.chats[0]):
            return None
        return self._submit(call)

    async def aclose(self) -> None:
        """Run what waits, and nothing after that."""
        self._is_closed = True  # a reader that leaves now would open a connection again
        if self._running is not None:
            await self._running

    def _submit(self, call: Call) -> "asyncio.Future[Reply]":
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._waiting.append((call, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return future

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(_AT_ONCE, len(self._waiting)))]
                replies = await self._servers.run([call for call, _ in batch])
                for (_, future), reply in zip(batch, replies, strict=True):
                    if not future.done():  # its caller may have given up
                        future.set_result(reply)
        finally:
            self._running = None
