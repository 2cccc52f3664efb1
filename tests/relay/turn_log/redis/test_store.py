"""The turn log in Redis, with two processes: what one writes, the other reads, stops, continues."""

import asyncio

import pytest
from msgspec import Raw

from gateway.redis_server import RedisServer
from gateway.waiting import PATIENCE_S, until
from relay.turn_log.listening import HEAD, Control, write
from relay.turn_log.redis.rig import (
    CHAT,
    KIB,
    OTHER,
    Rig,
    claim,
    gets,
    is_flushed,
    new_rig,
    open_reader,
)
from turnwire.core.events import Question, QuestionClosed, Reason, TextDelta, TurnFinished
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log.entries import Absent, Entry, Head, Joined, TooLong
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.turn_log.redis import readers
from turnwire.relay.turn_log.redis import writer as writing

pytestmark = pytest.mark.sockets

END = TurnFinished(reason=Reason.END_TURN)
FIRST: list[Entry] = [Head("p1", "u1"), Joined(2), TextDelta("a"), TextDelta("b")]


async def test_another_process_reads_what_there_is_and_what_follows(rig: Rig) -> None:
    one, other = rig.logs
    writer = await claim(one)
    assert writer.is_kept
    write(writer, "a", "b")
    await is_flushed(rig.logs[0], writer)
    reader = await open_reader(other)
    await gets(reader, *FIRST)

    write(writer, "c")
    write(writer, END)
    writer.end(is_received=True)

    await gets(reader, *FIRST, TextDelta("c"), END)
    late = await open_reader(other)
    await gets(late, FIRST[0], Joined(4, is_received=True), *FIRST[2:], TextDelta("c"), END)
    assert (reader.left, late.left, rig.failures) == (None, None, 0)


@pytest.mark.parametrize("is_settled", [False, True])
async def test_a_client_that_did_not_get_the_end_after_all(rig: Rig, *, is_settled: bool) -> None:
    writer = await claim(rig.logs[0])
    write(writer, "a", END)
    writer.end(is_received=True)
    if is_settled:
        await until(lambda: not rig.logs[0].turns)

    writer.end(is_received=False)

    await until(lambda: not rig.logs[0].turns and not rig.logs[0]._taking_back)
    await until(lambda: rig.logs[0]._lane._running is None)
    late = await open_reader(rig.logs[1])
    await gets(late, FIRST[0], Joined(2), TextDelta("a"), END)


async def test_no_turn(rig: Rig) -> None:
    reader = await open_reader(rig.logs[0])

    assert reader.entries == [Absent()]


async def test_another_chat_is_another_turn(rig: Rig) -> None:
    write(await claim(rig.logs[0]), "a")

    assert (await open_reader(rig.logs[1], OTHER)).entries == [Absent()]


async def test_exactly_one_of_many_prompts_begins(rig: Rig) -> None:
    turns = await asyncio.gather(
        *(log.claim(CHAT, HEAD, Control()) for log in rig.logs for _ in range(10))
    )

    assert len([turn for turn in turns if turn is not None]) == 1


async def test_the_next_turn_begins_at_once_in_any_process(rig: Rig) -> None:
    one, other = rig.logs
    for log in (one, other, one, one, other):
        writer = await claim(log)
        write(writer, "a", END)
        writer.end(is_received=True)


async def test_a_turn_that_never_began_is_forgotten(rig: Rig) -> None:
    writer = await claim(rig.logs[0])
    writer.discard()
    await until(lambda: not rig.logs[0].turns)

    assert (await open_reader(rig.logs[1])).entries == [Absent()]
    await claim(rig.logs[1])


async def test_the_next_turn_ends_the_readers_of_one_that_waits(rig: Rig) -> None:
    writer = await claim(rig.logs[0])
    write(writer, "a", "b")
    await is_flushed(rig.logs[0], writer)
    reader = await open_reader(rig.logs[1])
    await gets(reader, *FIRST)
    writer.wait(60)
    await until(lambda: not rig.logs[0].turns)

    await claim(rig.logs[1])

    await until(lambda: reader.left)
    assert reader.left is DisconnectReason.LINE_LOST


async def test_a_turn_without_entries_keeps_its_chat(
    rig: Rig, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_LOOK_S", 0.05)
    monkeypatch.setattr(writing, "KEEP_S", 0.1)
    await claim(rig.logs[0])
    lease = "turnwire:{chat}:lease"
    assert await redis.ask("PEXPIRE", lease, "3000") == "1"

    async with asyncio.timeout(PATIENCE_S):
        while int(await redis.ask("PTTL", lease)) < 3_500:  # noqa: ASYNC110 (it has no event)
            await asyncio.sleep(0.02)


async def test_an_answer_reaches_the_process_of_the_turn(rig: Rig) -> None:
    control = Control()
    await claim(rig.logs[0], control=control)
    replies = [QuestionReply("q1", Raw(b'{"x": 1}'), b"\x00s"), QuestionReply("q2", Raw(b"2"))]

    assert await rig.logs[1].answer(CHAT, replies, "ann") is Rejection.CLOSED
    ((got, user_id),) = control.answers
    assert [(each.question_id, bytes(each.answer), each.subject) for each in got] == [
        ("q1", b'{"x": 1}', b"\x00s"),
        ("q2", b"2", None),
    ]
    assert user_id == "ann"


async def test_nothing_to_answer(rig: Rig) -> None:
    reply = [QuestionReply("q1", Raw(b"1"))]
    assert await rig.logs[1].answer(CHAT, reply, "ann") is Rejection.UNKNOWN
    writer = await claim(rig.logs[0])
    write(writer, Question("q1", Raw(b"{}")), END)
    writer.end(is_received=False)
    await until(lambda: not rig.logs[0].turns)

    assert await rig.logs[1].answer(CHAT, reply, "ann") is Rejection.CLOSED


async def test_a_turn_that_waits_goes_on_in_another_process(rig: Rig) -> None:
    one, other = rig.logs
    writer = await claim(one)
    write(writer, "a", "b")
    writer.wait(60)
    await until(lambda: not one.turns)

    waiting = await other.resume_waiting(CHAT, Control())
    assert waiting is not None
    assert waiting.head == HEAD
    assert await one.claim(CHAT, HEAD, Control()) is None
    assert await one.resume_waiting(CHAT, Control()) is None
    write(waiting.writer, "c")
    waiting.writer.wait(None)

    again = await other.resume_waiting(CHAT, Control())
    assert again is not None
    write(again.writer, END)
    again.writer.end(is_received=False)
    await until(lambda: not other.turns)
    reader = await open_reader(one)
    await gets(reader, FIRST[0], Joined(4), *FIRST[2:], TextDelta("c"), END)


async def test_a_turn_waits_no_longer_than_at_first(rig: Rig) -> None:
    writer = await claim(rig.logs[0])
    writer.wait(0.4)
    waiting = await rig.logs[0].resume_waiting(CHAT, Control())
    assert waiting is not None
    waiting.writer.wait(None)
    await asyncio.sleep(0.5)

    assert await rig.logs[0].resume_waiting(CHAT, Control()) is None
    assert (await open_reader(rig.logs[1])).entries == [Absent()]


async def test_the_questions_that_are_closed_are_known_at_once(rig: Rig) -> None:
    writer = await claim(rig.logs[0])
    asked = Question("q1", Raw(b"{}"))
    closed = QuestionClosed("q1", answer=Raw(b"1"))
    write(writer, asked, closed)
    await is_flushed(rig.logs[0], writer)

    reader = await open_reader(rig.logs[1])

    await gets(reader, FIRST[0], Joined(2), closed, asked, closed)


async def test_a_reader_of_another_process_counts(rig: Rig) -> None:
    control = Control()
    await claim(rig.logs[0], control=control)
    readers = [await open_reader(rig.logs[1]) for _ in range(2)]
    await until(lambda: control.readers == [1])

    for reader in readers:
        assert reader.connection is not None
        reader.connection.close()
    await until(lambda: control.readers == [1, 0])


async def test_a_long_turn_is_not_read_but_goes_on_for_its_readers(redis: RedisServer) -> None:
    async with new_rig(redis.url, turn_bytes=40 * KIB) as rig:
        writer = await claim(rig.logs[0])
        write(writer, "a", "b")
        await is_flushed(rig.logs[0], writer)
        reader = await open_reader(rig.logs[1])
        await gets(reader, *FIRST)
        await until(lambda: writer.readers)
        for number in range(100):
            write(writer, f"{number:02}" * 500)
            await asyncio.sleep(0.002)

        assert (await open_reader(rig.logs[1])).entries == [TooLong()]
        write(writer, END)
        writer.end(is_received=True)
        await until(lambda: reader.entries[-1] == END)
        assert len(reader.entries) == len(FIRST) + 100 + 1
        assert int(await redis.ask("MEMORY", "USAGE", "turnwire:{chat}:entries")) < 60 * KIB
        assert (await open_reader(rig.logs[1])).entries == [TooLong()]


async def test_a_process_that_only_reads_finds_a_redis_that_failed_again(
    redis: RedisServer,
) -> None:
    async with new_rig(redis.url) as rig:
        one, other = rig.logs
        writer = await claim(one)
        write(writer, "a")
        await is_flushed(one, writer)
        redis.pause()
        assert (await open_reader(other)).entries == [Absent()]
        redis.unpause()

        async def is_read() -> bool:
            return (await open_reader(other)).entries != [Absent()]

        async with asyncio.timeout(PATIENCE_S):
            while not await is_read():  # noqa: ASYNC110
                await asyncio.sleep(0.1)


async def test_a_long_turn_without_readers_is_forgotten(redis: RedisServer) -> None:
    async with new_rig(redis.url, turn_bytes=40 * KIB) as rig:
        writer = await claim(rig.logs[0])
        write(writer, "a" * 41 * KIB)
        await is_flushed(rig.logs[0], writer)

        assert (await open_reader(rig.logs[1])).entries == [TooLong()]
        assert await redis.ask("EXISTS", "turnwire:{chat}:entries") == "0"
        assert await rig.logs[1].claim(CHAT, HEAD, Control()) is None
        writer.end(is_received=True)
        await claim(rig.logs[1])


@pytest.mark.usefixtures("patient")
async def test_a_redis_that_was_full_for_a_while_has_all_of_the_turn(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "_LOOK_S", 0.05)
    async with new_rig(own_redis.url) as rig:
        writer = await claim(rig.logs[0])
        write(writer, "a")
        await is_flushed(rig.logs[0], writer)
        await own_redis.fill()
        write(writer, "b")
        await until(lambda: rig.failures)
        assert writer.is_kept
        await own_redis.make_room()
        await is_flushed(rig.logs[0], writer)

        await gets(await open_reader(rig.logs[1]), *FIRST)


async def test_a_turn_of_which_redis_lost_entries_is_not_read(rig: Rig, redis: RedisServer) -> None:
    """As when a replica takes over that had not all."""
    writer = await claim(rig.logs[0])
    write(writer, "a")
    await is_flushed(rig.logs[0], writer)
    assert await redis.ask("DEL", "turnwire:{chat}:entries") == "1"
    write(writer, "b")
    await until(lambda: not writer.is_kept)
    await is_flushed(rig.logs[0], writer)

    assert (await open_reader(rig.logs[1])).entries == [Absent()]
    assert await rig.logs[1].claim(CHAT, HEAD, Control()) is None


async def test_a_turn_that_is_claimed_again_is_never_read(rig: Rig, redis: RedisServer) -> None:
    """Not even at once, before Redis has what follows the claim."""
    one, other = rig.logs
    writer = await claim(one)
    write(writer, "a")
    await is_flushed(rig.logs[0], writer)
    assert await redis.ask("FLUSHALL") == "OK"
    await one._writer.keep([writer])
    assert not writer.has_lease
    one._writer._tasks[0].cancel()  # it writes nothing more

    await one._writer.keep([writer])

    assert writer.has_lease
    assert (await open_reader(other)).entries == [Absent()]
    assert await other.claim(CHAT, HEAD, Control()) is None


async def test_nothing_is_kept_for_ever(redis: RedisServer) -> None:
    async with new_rig(redis.url, keep_s=0.3) as rig:
        writer = await claim(rig.logs[0])
        write(writer, "a")
        await is_flushed(rig.logs[0], writer)
        keys = (await redis.ask("KEYS", "*")).split()
        assert len(keys) == 3
        for key in keys:
            assert 0 < int(await redis.ask("PTTL", key)) <= 6_300
        writer.end(is_received=True)
        await until(lambda: not rig.logs[0].turns)
        await asyncio.sleep(0.4)

        assert await redis.ask("KEYS", "*") == ""


async def test_a_process_that_is_gone_loses_its_turns_with_its_lease(
    rig: Rig, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when it is killed: it writes nothing more, and its lease expires."""
    monkeypatch.setattr(readers, "_LOOK_S", 0.1)
    one, other = rig.logs
    writer = await claim(one)
    write(writer, "a", "b")
    await is_flushed(rig.logs[0], writer)
    reader = await open_reader(other)
    await gets(reader, *FIRST)
    assert one._listening is not None
    for task in (*one._writer._tasks, one._listening):
        task.cancel()
    assert await other.claim(CHAT, HEAD, Control()) is None
    assert reader.left is None
    assert await redis.ask("PEXPIRE", "turnwire:{chat}:lease", "1") == "1"

    await until(lambda: reader.left)

    assert reader.left is DisconnectReason.LINE_LOST
    assert reader.entries == FIRST
    assert await other.stop(CHAT, None) is Rejection.UNKNOWN
    await claim(other)


async def test_a_process_that_stops_ends_its_readers_at_once(rig: Rig) -> None:
    one, other = rig.logs
    writer = await claim(one)
    write(writer, "a", "b")
    await is_flushed(rig.logs[0], writer)
    reader = await open_reader(other)
    await gets(reader, *FIRST)

    await one.aclose()

    await until(lambda: reader.left, within_s=3)
    assert reader.left is DisconnectReason.LINE_LOST
    await claim(other)
