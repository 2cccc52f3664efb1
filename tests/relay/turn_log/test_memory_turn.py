"""What one turn in memory holds, and when its deltas are packed."""

import pytest

from gateway.waiting import until
from relay.turn_log.listening import HEAD, write
from relay.turn_log.memory_rig import claim, new_log, open_reader
from turnwire.core.events import Reason, TextDelta, TurnFinished
from turnwire.core.turn_log.entries import TEXT_LENGTH, TEXTS, pack
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.memory_turn import TURN_BYTES

END = TurnFinished(reason=Reason.END_TURN)


@pytest.fixture
def log() -> MemoryTurnLog:
    return new_log()


async def test_what_a_turn_takes_is_counted(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    assert log.held_bytes == TURN_BYTES + len(HEAD)
    write(writer, END)
    assert log.held_bytes == TURN_BYTES + len(HEAD) + len(pack(END))


async def test_deltas_that_nobody_reads_are_packed_together(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    empty = log.held_bytes
    for _ in range(TEXTS - 1):
        write(writer, "a")
    assert log.held_bytes == empty
    write(writer, "a")
    assert log.held_bytes == empty + 2 * TEXTS

    write(writer, "b", "x" * (TEXT_LENGTH + 1))
    assert log.held_bytes > empty + 2 * TEXTS + TEXT_LENGTH
    write(writer, "c")
    reader = await open_reader(log)
    await until(lambda: reader.entries[-1] == TextDelta("c"))


async def test_a_long_delta_is_counted_at_once_though_a_short_one_follows(
    log: MemoryTurnLog,
) -> None:
    writer = await claim(log)
    empty = log.held_bytes
    writer.append_texts(["x" * (TEXT_LENGTH + 1), "y"])
    assert log.held_bytes > empty + TEXT_LENGTH


@pytest.mark.parametrize("end", ["end", "wait", "event"])
async def test_no_delta_is_left_behind(end: str, log: MemoryTurnLog) -> None:
    writer = await claim(log)
    write(writer, "a")
    match end:
        case "end":
            writer.end(is_received=False)
        case "wait":
            writer.wait(60)
        case _:
            write(writer, END)
    reader = await open_reader(log)

    await until(lambda: TextDelta("a") in reader.entries)
    assert reader.entries[2] == TextDelta("a")
