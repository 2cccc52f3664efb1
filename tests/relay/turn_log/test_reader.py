"""The connection of a reader: see also test_memory.py, where it is the way to read."""

import pytest

from relay.turn_log.listening import HEAD, Control, Reader
from turnwire.core.connect import ConnectRequest
from turnwire.core.turn_log.entries import Absent, Head, Joined
from turnwire.relay import rounds as rounds_module
from turnwire.relay.agent.port import AgentTarget
from turnwire.relay.memory_budget import Budget
from turnwire.relay.rounds import Rounds
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.reader import LogTransport

CHAT = ChatKey("chat")
NOWHERE = AgentTarget("", {})


async def test_the_transport_opens_its_chat_whatever_it_is_asked_for() -> None:
    log = MemoryTurnLog(Rounds(), turn_bytes=1_000, total_bytes=9_000, keep_s=60)
    await log.claim(CHAT, HEAD, Control())
    found, missed = Reader(), Reader()
    with Budget().holder("u") as holder:
        LogTransport.check(ConnectRequest(method="POST", body=b"x"))
        await LogTransport(log, CHAT).open(NOWHERE, found, holder.reserve())
        await LogTransport(log, ChatKey("other")).open(NOWHERE, missed, holder.reserve())

    assert found.entries == [Head("p1", "u1"), Joined(0)]
    assert missed.entries == [Absent()]
    await log.aclose()


async def test_a_reader_that_leaves_before_its_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SLICE_S", "MIN_SLICE_S"):
        monkeypatch.setattr(rounds_module, name, -1.0)
    log = MemoryTurnLog(Rounds(), turn_bytes=1_000, total_bytes=9_000, keep_s=60)
    writer = await log.claim(CHAT, HEAD, Control())
    assert writer is not None
    writer.append(b"\xa1x", 1)
    reader = Reader()
    with Budget().holder("u") as holder:
        connection = await log.open(CHAT, reader, holder.reserve())
        connection.close()
        assert connection.unwritten_bytes == 0

    assert reader.entries == []
    await log.aclose()
