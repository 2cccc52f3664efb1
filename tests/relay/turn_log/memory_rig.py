"""A turn log in memory, and what tests do with it."""

from gateway.waiting import until
from relay.turn_log.listening import HEAD, Control, Reader
from turnwire.core.turn_log.entries import Entry
from turnwire.relay.memory_budget import Budget
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.port import ChatKey, TurnWriter

CHAT, OTHER = ChatKey("chat"), ChatKey("other")
KIB = 1_024


def new_log(
    *, turn_bytes: int = 64 * KIB, total_bytes: int = 512 * KIB, keep_s: float = 600
) -> MemoryTurnLog:
    return MemoryTurnLog(Rounds(), turn_bytes=turn_bytes, total_bytes=total_bytes, keep_s=keep_s)


async def claim(
    log: MemoryTurnLog,
    key: ChatKey = CHAT,
    control: Control | None = None,
    head: bytes = HEAD,
) -> TurnWriter:
    writer = await log.claim(key, head, control or Control())
    assert writer is not None
    assert writer.is_kept
    return writer


async def open_reader(log: MemoryTurnLog, key: ChatKey = CHAT) -> Reader:
    reader = Reader()
    with Budget().holder("u") as holder:
        connection = await log.open(key, reader, holder.reserve())
    assert reader.connection is connection
    await until(lambda: reader.entries)  # its first frame, which may take several slices
    return reader


async def gets(reader: Reader, *expected: Entry) -> None:
    await until(lambda: len(reader.entries) >= len(expected))
    assert reader.entries == list(expected)
