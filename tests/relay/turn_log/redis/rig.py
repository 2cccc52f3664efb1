"""Two processes with one Redis, as two turn logs on one loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.redis_server import RedisServer
from gateway.waiting import PATIENCE_S, until
from relay.turn_log.listening import HEAD, Control, Reader, write
from turnwire.core.events import Reason, TextDelta, TurnFinished
from turnwire.core.turn_log.entries import Entry, Head, Joined
from turnwire.relay.memory_budget import Budget
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis.store import RedisTurnLog
from turnwire.relay.turn_log.redis.turn import RedisTurn
from turnwire.relay.turn_log.redis.writer import Writer
from turnwire.relay.turn_log.tasks import end

CHAT, OTHER = ChatKey("chat"), ChatKey("other")
KIB = 1_024
END = TurnFinished(reason=Reason.END_TURN)


class Rig:
    """`logs` are the processes; `failures` are what they counted."""

    def __init__(self, url: str, *, turn_bytes: int, total_bytes: int, keep_s: float) -> None:
        self.failures = self.too_long = 0
        self.logs = [
            RedisTurnLog(
                url,
                Rounds(),
                turn_bytes=turn_bytes,
                total_bytes=total_bytes,
                keep_s=keep_s,
                on_too_long=self._count_too_long,
                on_failure=self._count_failure,
            )
            for _ in range(2)
        ]

    def _count_too_long(self) -> None:
        self.too_long += 1

    def _count_failure(self) -> None:
        self.failures += 1


@asynccontextmanager
async def new_rig(
    url: str, *, turn_bytes: int = 64 * KIB, total_bytes: int = 512 * KIB, keep_s: float = 600
) -> AsyncIterator[Rig]:
    rig = Rig(url, turn_bytes=turn_bytes, total_bytes=total_bytes, keep_s=keep_s)
    try:
        yield rig
    finally:
        for log in rig.logs:
            await log.aclose()


async def all_listen(redis: RedisServer, processes: int) -> None:
    """Wait until so many processes get hints: before that, they look now and then."""
    async with asyncio.timeout(PATIENCE_S):
        while len((await redis.ask("PUBSUB", "CHANNELS")).split()) < processes:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def claim(
    log: RedisTurnLog, key: ChatKey = CHAT, control: Control | None = None
) -> RedisTurn:
    turn = await log.claim(key, HEAD, control or Control())
    assert turn is not None
    return turn


async def is_flushed(log: RedisTurnLog, *writers: RedisTurn) -> None:
    """Wait until Redis has all that these turns of a process have."""
    await until(lambda: not log.held_bytes and not any(turn.has_more for turn in writers))


async def open_reader(log: RedisTurnLog, key: ChatKey = CHAT) -> Reader:
    reader = Reader()
    with Budget().holder("u") as holder:
        connection = await log.open(key, reader, holder.reserve())
    assert reader.connection is connection
    return reader


async def gets(reader: Reader, *expected: Entry) -> None:
    await until(lambda: len(reader.entries) >= len(expected))
    assert reader.entries == list(expected)


async def gets_texts(reader: Reader, text: str) -> None:
    """Wait until the texts that came are these in all."""
    await until(lambda: len(texts(reader)) >= len(text))
    assert texts(reader) == text


def texts(reader: Reader) -> str:
    return "".join(getattr(entry, "text", "") for entry in reader.entries)


async def is_read(rig: Rig, key: ChatKey = CHAT) -> None:
    """One turn of a chat, written by one process and read in the other."""
    one, other = rig.logs
    writer = await claim(one, key)
    assert writer.is_kept
    assert await other.claim(key, HEAD, Control()) is None
    write(writer, "a", END)
    writer.end(is_received=False)
    await until(lambda: writer.is_written)
    reader = await open_reader(other, key)
    await gets(reader, Head("p1", "u1"), Joined(2), TextDelta("a"), END)


async def begun(rig: Rig, count: int) -> tuple[Writer, list[RedisTurn]]:
    """So many turns that have begun, and their writer, which writes nothing by itself any more."""
    log = rig.logs[0]
    turns = [await claim(log, ChatKey(f"chat{number}")) for number in range(count)]
    for turn in turns:
        write(turn, "a")
    await is_flushed(log, *turns)
    await end(*log._writer._tasks)
    return log._writer, turns
