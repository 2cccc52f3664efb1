"""All readers of this process: asks Redis for what they need, for many of them at once.

A hint says that a turn has more. A hint may be lost, and a dead process gives none: so each reader
looks by itself when the lease of its turn would be over, and every `_LOOK_S` before that.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.batches import run_all
from turnwire.relay.turn_log.redis.lane import Lane
from turnwire.relay.turn_log.redis.reader import RedisReader
from turnwire.relay.turn_log.redis.servers import Servers, call_of
from turnwire.relay.turn_log.redis.writer import LEASE_S
from turnwire.relay.turn_log.tasks import end

_LOOK_S: Final = 2.0
_TICK_S: Final = 0.1
"""How exactly these times are kept."""

_AT_ONCE: Final = 64
"""Most readers of one pipeline: each may get `READ_BYTES`."""

_READER_MS: Final = round(LEASE_S * 1_000)
"""For how long a process counts as a reader after it looked."""


class Readers:
    """`process` is the id of this one, which stands for all its readers."""

    def __init__(self, servers: Servers, lane: Lane, process: str) -> None:
        self._servers = servers
        self._lane = lane
        self._process = process
        self._readers: dict[ChatKey, dict[RedisReader, None]] = {}
        self._needy: dict[RedisReader, None] = {}
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return sum(map(len, self._readers.values()))

    def add(self, reader: RedisReader) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        self._readers.setdefault(reader.key, {})[reader] = None

    def remove(self, reader: RedisReader) -> None:
        self._needy.pop(reader, None)
        of_chat = self._readers.get(reader.key, {})
        of_chat.pop(reader, None)
        if not of_chat and self._readers.pop(reader.key, None) is not None:
            self._lane.send(call_of(scripts.LEAVE, reader.key, reader.turn_id, self._process))

    def need(self, reader: RedisReader) -> None:
        """Read for this one as soon as possible."""
        if not reader.is_done:
            self._needy[reader] = None
            self._wake.set()

    def hint(self, chat: str) -> None:
        """A turn of this chat has more, or is another one."""
        for reader in self._readers.get(ChatKey(chat), ()):
            reader.note_news()

    def look_again(self) -> None:
        """Hints may have been lost."""
        for chat in self._readers:
            self.hint(chat)

    async def aclose(self) -> None:
        if self._task is not None:
            await end(self._task)
        for reader in [each for readers in self._readers.values() for each in readers]:
            reader.lose()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_S if self._readers else None):
                    await self._wake.wait()
            self._wake.clear()
            now = loop.time()
            for readers in self._readers.values():
                for reader in readers:
                    if now >= reader.look_at and not reader.is_done:
                        self._needy[reader] = None
            needy = list(islice(self._needy, _AT_ONCE))
            for reader in needy:
                del self._needy[reader]
            if self._needy:
                self._wake.set()
            if needy:
                await self._read(needy)

    async def _read(self, readers: Sequence[RedisReader]) -> None:
        wanted = [reader.begin_read() for reader in readers]
        items = [
            call_of(
                scripts.READ,
                *(reader.key, reader.turn_id),
                *(reader.next_index, most, self._process, _READER_MS),
            )
            for reader, most in zip(readers, wanted, strict=True)
        ]
        replies = await run_all(self._servers, items)
        now = asyncio.get_running_loop().time()
        for reader, most, reply in zip(readers, wanted, replies, strict=True):
            if reply is not None:
                reader.seen_at = now
                lives_s = reader.take(reply, most)
                reader.look_at = now + min(_LOOK_S, lives_s or _LOOK_S)
            elif now > reader.seen_at + LEASE_S:
                reader.lose()
            else:
                reader.look_at = now + _TICK_S
