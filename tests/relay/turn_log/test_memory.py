import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from msgspec import Raw

from gateway.waiting import until
from relay.turn_log.listening import HEAD, Control, Reader, write
from relay.turn_log.memory_rig import CHAT, KIB, OTHER, claim, gets, new_log, open_reader
from turnwire.core import events
from turnwire.core.events import Question, QuestionClosed, Reason, TextDelta, TurnFinished
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log.entries import Absent, Entry, Head, Joined, TooLong, pack, read
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.memory_budget import Budget
from turnwire.relay.turn_log.memory import MemoryTurnLog
from turnwire.relay.turn_log.memory_turn import TURN_BYTES
from turnwire.relay.turn_log.port import ChatKey, TurnWriter

END = TurnFinished(reason=Reason.END_TURN)
LONG = "x" * 600


@pytest.fixture
async def log() -> AsyncIterator[MemoryTurnLog]:
    log = new_log()
    yield log
    await log.aclose()
    assert log.held_bytes == 0
    assert log.turns == 0


async def test_a_reader_gets_what_there_is_and_what_follows(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    write(writer, "a", "b")
    reader = await open_reader(log)
    begun: list[Entry] = [Head("p1", "u1"), Joined(2), TextDelta("a"), TextDelta("b")]
    await gets(reader, *begun)

    write(writer, "c")
    write(writer, END)
    writer.end(is_received=True)

    await gets(reader, *begun, TextDelta("c"), END)
    assert reader.left is None


async def test_no_turn(log: MemoryTurnLog) -> None:
    reader = await open_reader(log)

    assert reader.entries == [Absent()]
    assert reader.connection is not None
    reader.connection.send([b"x"])
    reader.connection.close()
    reader.connection.close()


async def test_another_chat_is_another_turn(log: MemoryTurnLog) -> None:
    write(await claim(log), "a")

    assert (await open_reader(log, OTHER)).entries == [Absent()]


async def test_one_turn_of_a_chat_runs(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    assert await log.claim(CHAT, HEAD, Control()) is None
    await claim(log, OTHER)

    writer.end(is_received=True)
    second = await claim(log)
    writer.end(is_received=True)
    writer.discard()
    writer.wait(1)
    writer.append(b"", 0)

    assert await log.claim(CHAT, HEAD, Control()) is None
    second.discard()
    await claim(log)


async def test_a_turn_that_is_over_is_kept_for_a_while() -> None:
    log = new_log(keep_s=0.01)
    writer = await claim(log)
    write(writer, END)
    writer.end(is_received=False)
    reader = await open_reader(log)
    await gets(reader, Head("p1", "u1"), Joined(1), END)
    writer = await claim(log, OTHER)
    writer.end(is_received=True)
    received = await open_reader(log, OTHER)
    assert received.entries == [Head("p1", "u1"), Joined(0, is_received=True)]

    await until(lambda: log.turns == 0)

    assert log.held_bytes == 0
    assert (await open_reader(log)).entries == [Absent()]


async def test_a_turn_that_never_began_is_forgotten(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    reader = await open_reader(log)
    writer.discard()

    assert reader.left is DisconnectReason.CLOSED
    assert (await open_reader(log)).entries == [Absent()]


async def test_a_reader_that_pauses_gets_the_rest_when_it_reads_on(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    reader = await open_reader(log)
    assert reader.connection is not None
    reader.connection.pause()
    write(writer, "a")
    await asyncio.sleep(0.01)
    assert len(reader.entries) == 2

    reader.connection.resume()
    await gets(reader, Head("p1", "u1"), Joined(0), TextDelta("a"))
    write(writer, "")
    write(writer, "")
    await until(lambda: len(reader.entries) == 5)

    reader.connection.close()
    reader.connection.resume()
    write(writer, "b")
    await asyncio.sleep(0.01)
    assert len(reader.entries) == 5


async def test_the_stream_of_the_turn_knows_its_readers(log: MemoryTurnLog) -> None:
    control = Control()
    writer = await claim(log, control=control)
    first, second = await open_reader(log), await open_reader(log)
    for reader in (first, second):
        assert reader.connection is not None
        reader.connection.close()
    assert control.readers == [1, 2, 1, 0]

    late = await open_reader(log)
    writer.end(is_received=True)
    assert late.connection is not None
    late.connection.close()
    assert control.readers == [1, 2, 1, 0, 1]


async def test_the_ends_of_questions_come_first(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    asked, closed = Question("q1", Raw(b"{}")), QuestionClosed("q1", answer=Raw(b"1"))
    write(writer, asked, closed)
    reader = await open_reader(log)

    await gets(reader, Head("p1", "u1"), Joined(2), closed, asked, closed)


async def test_a_long_entry_goes_the_way_of_long_frames(log: MemoryTurnLog) -> None:
    log = new_log(turn_bytes=512 * KIB)
    writer = await claim(log)
    reader = await open_reader(log)
    write(writer, "x" * 100_000)
    await gets(reader, Head("p1", "u1"), Joined(0), TextDelta("x" * 100_000))

    assert reader.long_frames == 1


async def test_a_long_entry_that_finds_no_room_ends_its_reader() -> None:
    log = new_log(turn_bytes=512 * KIB)
    writer = await claim(log)
    reader = Reader()
    with Budget(most_bytes=KIB).holder("u") as holder:
        await log.open(CHAT, reader, holder.reserve())
        write(writer, "x" * 100_000)
        await until(lambda: reader.left is DisconnectReason.NO_ROOM)

    assert reader.long_frames == 0


async def test_a_reader_that_fails_ends_alone(log: MemoryTurnLog) -> None:
    class Failing(Reader):
        def agent_frames(self, frames: object) -> None:
            raise RuntimeError(str(frames))

    writer = await claim(log)
    failing = Failing()
    with Budget().holder("u") as holder, pytest.raises(RuntimeError):
        await log.open(CHAT, failing, holder.reserve())
    reader = await open_reader(log)
    write(writer, "a")

    await gets(reader, Head("p1", "u1"), Joined(0), TextDelta("a"))
    assert failing.left is DisconnectReason.BROKEN


async def test_a_turn_that_grows_too_long_is_kept_no_longer() -> None:
    log = new_log(turn_bytes=4 * KIB)
    writer = await claim(log)
    reader = await open_reader(log)
    for number in range(20):
        write(writer, LONG)
        await until(lambda: len(reader.entries) == 3 + number)  # noqa: B023 (called at once)

    assert log.held_bytes < 6 * KIB
    assert (await open_reader(log)).entries == [TooLong()]
    write(writer, END)
    writer.end(is_received=True)
    await until(lambda: reader.entries[-1] == END)
    assert (await open_reader(log)).entries == [TooLong()]
    assert await log.claim(CHAT, HEAD, Control()) is not None


async def test_a_turn_that_is_too_long_drops_the_readers_that_are_behind() -> None:
    log = new_log(turn_bytes=40 * KIB)
    writer = await claim(log)
    behind, ahead = await open_reader(log), await open_reader(log)
    assert behind.connection is not None
    behind.connection.pause()
    for number in range(120):
        write(writer, LONG)
        await until(lambda: len(ahead.entries) == 3 + number)  # noqa: B023 (called at once)

    assert behind.left is DisconnectReason.NO_ROOM
    assert ahead.left is None
    assert log.held_bytes < 60 * KIB


async def test_without_readers_a_turn_that_is_too_long_holds_nothing() -> None:
    log = new_log(turn_bytes=4 * KIB)
    writer = await claim(log)
    for _ in range(20):
        write(writer, LONG)

    assert log.held_bytes < TURN_BYTES + 100


async def test_turns_that_are_over_make_room_the_oldest_first() -> None:
    log = new_log(total_bytes=12 * KIB)
    for key in (CHAT, OTHER):
        writer = await claim(log, key)
        write(writer, *[LONG] * 4)
        writer.end(is_received=False)

    write(await claim(log, ChatKey("third")), *[LONG] * 8)

    assert (await open_reader(log)).entries == [Absent()]
    assert isinstance((await open_reader(log, OTHER)).entries[0], Head)


async def test_then_the_largest_that_waits_and_then_the_turn_itself() -> None:
    log = new_log(total_bytes=12 * KIB)
    for key, count in ((CHAT, 2), (OTHER, 5)):
        writer = await claim(log, key)
        write(writer, *[LONG] * count)
        writer.wait(600)
    third = ChatKey("third")
    writer = await claim(log, third)

    write(writer, *[LONG] * 9)
    assert (await open_reader(log, OTHER)).entries == [Absent()]
    assert isinstance((await open_reader(log)).entries[0], Head)

    write(writer, *[LONG] * 20)
    assert (await open_reader(log)).entries == [Absent()]
    assert (await open_reader(log, third)).entries == [TooLong()]
    assert log.turns == 1


async def test_the_user_with_most_makes_room() -> None:
    log = new_log(total_bytes=63 * KIB)
    small = await claim(log, ChatKey("s1"), head=pack(Head("p", "small")))
    write(small, *[LONG] * 2)
    small.end(is_received=False)
    runs = await claim(log, ChatKey("s2"), head=pack(Head("p", "small")))
    write(runs, LONG)
    keys = [ChatKey(str(number)) for number in range(12)]
    writers = [await claim(log, key) for key in keys]
    for writer, end in zip(writers, "ow          ", strict=True):
        write(writer, *[LONG] * 6)
        if end == "o":
            writer.end(is_received=False)
        elif end == "w":
            writer.wait(600)
    kept = []
    for _ in range(5):
        write(runs, *[LONG] * 7)
        readers = [await open_reader(log, key) for key in keys]
        kept.append([type(reader.entries[0]) for reader in readers])
        for reader in readers:  # what one of them lacks would be kept for it
            assert reader.connection is not None
            reader.connection.close()

    assert kept[0] == [Head] * 12, "all of it fits"
    assert kept[1] == [Absent, *[Head] * 11], "first what is over"
    assert kept[2] == [Absent, Absent, *[Head] * 10], "then what waits"
    assert kept[4].count(TooLong) == 2, "then what runs"
    assert isinstance((await open_reader(log, ChatKey("s1"))).entries[0], Head)
    assert isinstance((await open_reader(log, ChatKey("s2"))).entries[0], Head)
    await log.aclose()
    assert log.held_bytes == 0
    assert not log._users


async def test_a_turn_that_waits_is_continued(log: MemoryTurnLog) -> None:
    assert await log.resume_waiting(CHAT, Control()) is None
    writer = await claim(log)
    write(writer, "a")
    assert await log.resume_waiting(CHAT, Control()) is None
    reader = await open_reader(log)
    writer.wait(600)
    control = Control()

    waiting = await log.resume_waiting(CHAT, control)

    assert waiting is not None
    assert waiting.head == HEAD
    assert [entry for data in waiting.frames for entry in read(data)] == [TextDelta("a")]
    assert control.readers == [1]
    assert await log.claim(CHAT, HEAD, Control()) is None
    write(waiting.writer, "b")
    await gets(reader, Head("p1", "u1"), Joined(1), TextDelta("a"), TextDelta("b"))
    waiting.writer.wait(None)
    assert await log.resume_waiting(CHAT, Control()) is not None
    for former in (writer, waiting.writer):
        former.end(is_received=False)
        former.wait(0)
        former.discard()
    assert await log.claim(CHAT, HEAD, Control()) is None, "the turn runs, by another writer"


@pytest.mark.parametrize("again", [False, True])
async def test_a_turn_waits_for_its_time_alone(*, again: bool) -> None:
    log = new_log()
    writer = await claim(log)
    reader = await open_reader(log)
    writer.wait(0.02)
    if again:
        waiting = await log.resume_waiting(CHAT, Control())
        assert waiting is not None
        waiting.writer.wait(None)

    await until(lambda: log.turns == 0)

    assert reader.left is DisconnectReason.CLOSED
    assert log.held_bytes == 0


async def test_a_new_prompt_takes_the_place_of_a_turn_that_waits(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    writer.wait(600)
    reader = await open_reader(log)
    second = await claim(log)
    assert reader.left is None

    write(second, END)

    assert reader.left is DisconnectReason.CLOSED


async def test_a_stop_reaches_the_stream_of_the_turn(log: MemoryTurnLog) -> None:
    result = StopResult(stopped=True, turn_id="t1", reason="canceled")
    control = Control(result)
    assert await log.stop(CHAT, None) is Rejection.UNKNOWN
    writer = await claim(log, control=control)

    assert await log.stop(CHAT, "t1") is result
    assert control.stopped == ["t1"]
    writer.end(is_received=True)
    assert await log.stop(CHAT, None) is Rejection.UNKNOWN


async def test_a_stop_waits_until_the_turn_is_over(log: MemoryTurnLog) -> None:
    result = StopResult(stopped=True, turn_id="t1", reason="canceled")
    control = Control(result)
    control.is_over.clear()
    writer = await claim(log, control=control)

    stop = asyncio.create_task(log.stop(CHAT, None))
    await until(lambda: control.stopped)
    await asyncio.sleep(0.01)
    assert not stop.done()
    writer.end(is_received=True)  # the turn has nobody's control then
    control.is_over.set()

    assert await stop is result


@pytest.mark.parametrize("turn_id", [None, "t1"])
async def test_a_stop_ends_a_turn_that_waits(turn_id: str | None, log: MemoryTurnLog) -> None:
    writer = await claim(log)
    write(writer, events.TurnStarted("t1"))
    reader = await open_reader(log)
    writer.wait(600)
    assert await log.stop(CHAT, "t2") is Rejection.OTHER_TURN

    result = await log.stop(CHAT, turn_id)

    assert result == StopResult(stopped=True, turn_id="t1", reason="canceled")
    await until(lambda: reader.entries[-1] == TurnFinished(reason=Reason.CANCELED))
    assert await log.stop(CHAT, None) is Rejection.UNKNOWN
    assert await log.resume_waiting(CHAT, Control()) is None


async def test_an_answer_reaches_the_stream_of_the_turn(log: MemoryTurnLog) -> None:
    control = Control()
    replies = [QuestionReply("q1", Raw(b"1"))]
    assert await log.answer(CHAT, replies, "u1") is Rejection.UNKNOWN
    writer = await claim(log, control=control)

    assert await log.answer(CHAT, replies, "u1") is Rejection.CLOSED
    assert control.answers == [(replies, "u1")]
    writer.wait(600)
    assert await log.answer(CHAT, replies, "u1") is Rejection.CLOSED
    assert len(control.answers) == 1


async def test_an_answer_after_the_end_is_late_only_if_the_turn_asked(log: MemoryTurnLog) -> None:
    writer = await claim(log)
    write(writer, Question("q1", Raw(b"{}")), "a", END)
    writer.end(is_received=False)
    asked, never = QuestionReply("q1", Raw(b"1")), QuestionReply("q9", Raw(b"1"))

    assert await log.answer(CHAT, [asked], "u1") is Rejection.CLOSED
    assert await log.answer(CHAT, [never], "u1") is Rejection.UNKNOWN
    assert await log.answer(CHAT, [asked, never], "u1") is Rejection.UNKNOWN


async def _ends(log: MemoryTurnLog, writer: TurnWriter) -> None:
    writer.end(is_received=False)
    write(await claim(log), "a", END)


async def _never_begins(_log: MemoryTurnLog, writer: TurnWriter) -> None:
    writer.discard()


async def _waits(log: MemoryTurnLog, writer: TurnWriter) -> None:
    writer.wait(60)
    await log.aclose()


@pytest.mark.parametrize("goes", [_ends, _never_begins, _waits])
async def test_a_turn_that_is_forgotten_is_freed_at_once(
    log: MemoryTurnLog, goes: Callable[[MemoryTurnLog, TurnWriter], Awaitable[None]]
) -> None:
    """Its stream refers to its writer. A cycle would keep its text until the next collection."""
    control = Control()
    writer = await claim(log, control=control)
    control.writer = writer  # type: ignore[attr-defined]  # as a stream does
    write(writer, TextDelta(LONG))
    freed = weakref.ref(writer)
    gc.collect()
    gc.disable()
    try:
        await goes(log, writer)
        del writer, control
        assert freed() is None
    finally:
        gc.enable()
