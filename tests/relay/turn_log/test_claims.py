"""A claim stands beside the former turn of its chat, until its own turn begins."""

from collections.abc import AsyncIterator

import pytest

from gateway.waiting import until
from relay.turn_log.listening import HEAD, Control, write
from relay.turn_log.memory_rig import CHAT, OTHER, claim, gets, new_log, open_reader
from turnwire.core.events import Reason, TextBreak, TextDelta, TurnFinished, TurnStarted
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log.entries import Absent, Head, Joined, pack
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.turn_log.memory import MemoryTurnLog

END = TurnFinished(reason=Reason.END_TURN)
NEXT = Head("p2", "u1")


@pytest.fixture
async def log() -> AsyncIterator[MemoryTurnLog]:
    log = new_log()
    yield log
    await log.aclose()
    assert (log.turns, log.held_bytes) == (0, 0)


async def is_over(log: MemoryTurnLog) -> None:
    """The chat has a turn that is over, and whose end its client did not get."""
    writer = await claim(log)
    write(writer, "a", END)
    writer.end(is_received=False)


async def waits(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    write(writer, "a")
    writer.wait(600)


async def test_a_turn_that_never_began_leaves_the_former_one_as_it_was(log: MemoryTurnLog) -> None:
    await is_over(log)
    for _ in range(2):
        (await claim(log, head=pack(NEXT))).discard()

    await gets(await open_reader(log), Head("p1", "u1"), Joined(2), TextDelta("a"), END)


async def test_what_its_client_did_not_get_is_known(log: MemoryTurnLog) -> None:
    assert not await log.has_undelivered(CHAT)
    writer = await claim(log)
    assert not await log.has_undelivered(CHAT)  # it may never begin
    write(writer, TurnStarted("t1"), "a")
    assert await log.has_undelivered(CHAT)
    write(writer, END)
    writer.end(is_received=False)
    assert await log.has_undelivered(CHAT)

    second = await claim(log)
    write(second, "a", END)
    second.end(is_received=True)
    assert not await log.has_undelivered(CHAT)
    assert not await log.has_undelivered(OTHER)


async def test_what_no_reader_gets_is_not_undelivered() -> None:
    log = new_log(turn_bytes=1_024)
    writer = await claim(log)
    write(writer, TurnStarted("t1"), "a" * 2_000, TextBreak())

    assert not await log.has_undelivered(CHAT)
    await log.aclose()


async def test_an_approval_can_be_answered_after_a_prompt_that_was_refused(
    log: MemoryTurnLog,
) -> None:
    await waits(log)
    reader = await open_reader(log)
    second = await claim(log, head=pack(NEXT))
    assert await log.resume_waiting(CHAT, Control()) is None
    assert await log.claim(CHAT, HEAD, Control()) is None
    second.discard()

    waiting = await log.resume_waiting(CHAT, Control())

    assert waiting is not None
    assert waiting.head == HEAD
    write(waiting.writer, END)
    await gets(reader, Head("p1", "u1"), Joined(1), TextDelta("a"), END)


async def test_a_reader_that_comes_with_the_claim_waits_for_its_turn(log: MemoryTurnLog) -> None:
    await is_over(log)
    control = Control()
    writer = await claim(log, control=control, head=pack(NEXT))
    reader = await open_reader(log)
    await gets(reader, NEXT, Joined(0))
    assert control.readers == [1]

    write(writer, "b", END)

    await gets(reader, NEXT, Joined(0), TextDelta("b"), END)


async def test_a_reader_of_a_claim_that_is_given_up_ends(log: MemoryTurnLog) -> None:
    await is_over(log)
    writer = await claim(log, head=pack(NEXT))
    reader = await open_reader(log)

    writer.discard()

    assert reader.left is DisconnectReason.CLOSED


@pytest.mark.parametrize("begins", ["text", "event", "end", "wait"])
async def test_the_former_turn_goes_when_the_next_one_begins(
    begins: str, log: MemoryTurnLog
) -> None:
    await waits(log)
    one_turn = log.held_bytes
    reader = await open_reader(log)
    writer = await claim(log, head=pack(NEXT))
    assert log.turns == 2
    match begins:
        case "text":
            write(writer, "b" * 300)
        case "event":
            write(writer, END)
        case "end":
            writer.end(is_received=False)
        case _:
            writer.wait(600)

    assert reader.left is DisconnectReason.CLOSED
    assert log.turns == 1
    assert log.held_bytes < one_turn + 310
    writer.discard()
    assert (await open_reader(log)).entries[0] == (
        Absent() if begins in {"text", "event"} else NEXT
    )


async def test_the_time_of_the_former_turn_goes_on() -> None:
    log = new_log(keep_s=0.02)
    await is_over(log)
    writer = await claim(log, head=pack(NEXT))
    await until(lambda: log.turns == 1)

    writer.discard()

    assert (log.turns, log.held_bytes) == (0, 0)
    assert (await open_reader(log)).entries == [Absent()]


async def test_the_former_turn_makes_room() -> None:
    log = new_log(total_bytes=8_192)
    await waits(log)
    writer = await claim(log, head=pack(NEXT))
    other = await log.claim(OTHER, HEAD, Control())
    assert other is not None

    for _ in range(10):
        write(other, "x" * 600)

    writer.discard()
    assert (await open_reader(log)).entries == [Absent()]
    assert other.is_kept
    assert await log.stop(CHAT, None) is Rejection.UNKNOWN


async def test_a_log_that_closes_forgets_both(log: MemoryTurnLog) -> None:
    await waits(log)
    await claim(log, head=pack(NEXT))
