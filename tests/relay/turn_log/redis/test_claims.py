"""A claim stands beside the former turn of its chat, until its own turn begins."""

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
from turnwire.core.events import Question, Reason, TextDelta, TurnFinished, TurnStarted
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log.entries import Absent, Entry, Head, Joined, pack
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import writer as writing
from turnwire.relay.turn_log.redis.found import LOST
from turnwire.relay.turn_log.redis.store import RedisTurnLog
from turnwire.relay.turn_log.redis.turn import RedisTurn

pytestmark = pytest.mark.sockets

END = TurnFinished(reason=Reason.END_TURN)
NEXT = Head("p2", "u1")
FORMER: list[Entry] = [Head("p1", "u1"), Joined(2), TextDelta("a"), END]


async def test_what_its_client_did_not_get_is_known_to_all(rig: Rig) -> None:
    one, other = rig.logs
    assert not await other.has_undelivered(CHAT)
    writer = await claim(one)
    assert not await other.has_undelivered(CHAT)  # it may never begin
    write(writer, TurnStarted("t1"))
    async with asyncio.timeout(PATIENCE_S):
        while not await other.has_undelivered(CHAT):  # noqa: ASYNC110 (nobody hints at it)
            await asyncio.sleep(0.005)
    write(writer, END)
    writer.end(is_received=False)
    await until(lambda: writer.is_written)
    assert await other.has_undelivered(CHAT)

    second = await next_claim(one)
    write(second, "b", END)
    second.end(is_received=True)
    await until(lambda: second.is_written)
    assert not await other.has_undelivered(CHAT)
    assert not await other.has_undelivered(OTHER)


async def test_without_a_redis_nothing_is_undelivered() -> None:
    async with new_rig("redis://127.0.0.1:1") as rig:
        assert not await rig.logs[0].has_undelivered(CHAT)


async def next_claim(log: RedisTurnLog, control: Control | None = None) -> RedisTurn:
    turn = await log.claim(CHAT, pack(NEXT), control or Control())
    assert turn is not None
    return turn


async def is_over(log: RedisTurnLog) -> None:
    """The chat has a turn that is over, and whose end its client did not get."""
    writer = await claim(log)
    write(writer, "a", END)
    writer.end(is_received=False)


async def waits(log: RedisTurnLog) -> None:
    writer = await claim(log)
    write(writer, "a")
    writer.wait(60)
    await until(lambda: not log.turns)


async def is_written(log: RedisTurnLog) -> None:
    await until(lambda: not log.turns)


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_turn_that_never_began_leaves_the_former_one_as_it_was(
    rig: Rig, *, elsewhere: bool
) -> None:
    one, other = rig.logs
    for _ in range(5):
        await is_over(one)  # and not written yet, when the next prompt comes
        second = await next_claim(other if elsewhere else one)
        second.discard()
        await is_written(other)
        await is_written(one)

        await gets(await open_reader(other), *FORMER)


async def test_an_approval_can_be_answered_after_a_prompt_that_was_refused(rig: Rig) -> None:
    one, other = rig.logs
    await waits(one)
    reader = await open_reader(one)
    second = await next_claim(other)
    assert await one.resume_waiting(CHAT, Control()) is None
    assert await one.claim(CHAT, HEAD, Control()) is None
    second.discard()

    waiting = await one.resume_waiting(CHAT, Control())

    assert waiting is not None
    assert waiting.head == HEAD
    write(waiting.writer, END)
    waiting.writer.end(is_received=False)
    await gets(reader, Head("p1", "u1"), Joined(1), TextDelta("a"), END)


async def test_the_former_turn_goes_when_the_next_one_begins(rig: Rig, redis: RedisServer) -> None:
    one, other = rig.logs
    await waits(one)
    reader = await open_reader(other)
    await until(lambda: len(reader.entries) == 3)
    second = await next_claim(other)
    assert reader.left is None

    write(second, "b", END)
    second.end(is_received=False)

    await until(lambda: reader.left)
    assert reader.left is DisconnectReason.LINE_LOST
    await gets(await open_reader(one), NEXT, Joined(2), TextDelta("b"), END)
    keys = set((await redis.ask("KEYS", "*")).split())
    assert {key.rpartition(":")[2] for key in keys} <= {"turn", "entries", "readers"}


async def test_a_reader_that_comes_with_the_claim_waits_for_its_turn(rig: Rig) -> None:
    one, other = rig.logs
    await is_over(one)
    control = Control(StopResult(stopped=True, turn_id="t2", reason="canceled"))
    writer = await next_claim(one, control)
    reader = await open_reader(other)
    await gets(reader, NEXT, Joined(0))
    await until(lambda: control.readers == [1])
    assert await other.stop(CHAT, None) == control.result

    write(writer, "b", END)
    writer.end(is_received=False)

    await gets(reader, NEXT, Joined(0), TextDelta("b"), END)


async def test_a_reader_of_a_claim_that_is_given_up_ends(rig: Rig) -> None:
    one, other = rig.logs
    await is_over(one)
    writer = await next_claim(one)
    reader = await open_reader(other)
    await gets(reader, NEXT, Joined(0))

    writer.discard()

    await until(lambda: reader.left)
    assert reader.left is DisconnectReason.LINE_LOST


async def dies(log: RedisTurnLog) -> None:
    """Its process is no more: it writes nothing, and says nothing."""
    assert log._listening is not None
    tasks = [*log._writer._tasks, log._listening]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("waiting", [False, True])
async def test_a_process_that_dies_between_claim_and_turn_leaves_the_former_one(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, *, waiting: bool
) -> None:
    monkeypatch.setattr("turnwire.relay.turn_log.redis.store._LEASE_MS", 300)
    one, other = rig.logs
    await (waits(one) if waiting else is_over(one))
    await is_written(one)
    dead = await next_claim(one)
    await dies(one)
    assert await other.claim(CHAT, HEAD, Control()) is None
    await asyncio.sleep(0.35)

    reader = await open_reader(other)
    joined = Joined(1) if waiting else Joined(2)
    await gets(reader, FORMER[0], joined, *FORMER[2 : 2 + joined.backlog])
    if waiting:
        resumed = await other.resume_waiting(CHAT, Control())
        assert resumed is not None
        # The dead process wakes up, and finds that the chat is another's.
        one._writer._tasks = []
        one._writer.add(dead)
        await one._writer.keep([dead])
        assert not dead.is_kept
        write(resumed.writer, END)
        resumed.writer.end(is_received=False)
        await gets(reader, FORMER[0], joined, *FORMER[2:])


async def test_a_process_that_was_slow_has_its_claim_still(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turnwire.relay.turn_log.redis.store._LEASE_MS", 50)
    await is_over(rig.logs[0])
    writer = await next_claim(rig.logs[0])
    await asyncio.sleep(0.1)

    write(writer, "b", END)
    writer.end(is_received=False)
    await is_written(rig.logs[0])

    assert writer.is_kept
    await gets(await open_reader(rig.logs[1]), NEXT, Joined(2), TextDelta("b"), END)


async def test_a_process_that_stops_leaves_the_former_turn(rig: Rig) -> None:
    one, other = rig.logs
    await is_over(one)
    await next_claim(one)

    await one.aclose()

    await gets(await open_reader(other), *FORMER)
    await claim(other)


@pytest.mark.parametrize("begins", [False, True])
async def test_what_was_lost_takes_the_place_of_the_former_turn_if_it_begins(
    rig: Rig, *, begins: bool
) -> None:
    await is_over(rig.logs[0])
    writer = await next_claim(rig.logs[0])
    writer.claim_without_frames()  # as after a claim whose reply was lost
    await is_flushed(rig.logs[0], writer)
    assert (await open_reader(rig.logs[1])).entries == [Absent()]
    if begins:
        write(writer, "b")
        await is_flushed(rig.logs[0], writer)
        assert writer.note == LOST
        writer.end(is_received=False)
    else:
        writer.discard()
    await is_written(rig.logs[0])

    reader = await open_reader(rig.logs[1])
    await gets(reader, *([Absent()] if begins else FORMER))


async def test_the_claim_and_its_turn_expire_by_themselves(redis: RedisServer) -> None:
    async with new_rig(redis.url, keep_s=0.3) as rig:
        await waits(rig.logs[0])
        await next_claim(rig.logs[0])

        for part in ("lease", "claim"):
            left = int(await redis.ask("PTTL", f"turnwire:{{chat}}:{part}"))
            assert 0 < left <= 6_300, part
        assert int(await redis.ask("PTTL", "turnwire:{chat}:turn")) <= 60_000
        await asyncio.sleep(writing.KEEP_S + 1.2)
        assert int(await redis.ask("PTTL", "turnwire:{chat}:turn")) <= 58_000
        assert int(await redis.ask("PTTL", "turnwire:{chat}:claim")) > 3_300


async def test_what_waits_for_redis_beyond_its_bytes_is_lost_by_the_user_with_most(
    redis: RedisServer,
) -> None:
    async with new_rig(redis.url, total_bytes=8 * KIB) as rig:
        log = rig.logs[0]
        small = await log.claim(OTHER, pack(Head("p", "small")), Control())
        assert small is not None
        turns = [await claim(log, ChatKey(str(number))) for number in range(3)]

        write(turns[0], "x" * 2_000)
        write(turns[1], "x" * 4_000)
        write(turns[2], "x" * 1_000)
        write(small, "x" * 1_500)

        assert [turn.is_kept for turn in (small, *turns)] == [True, True, False, True]
        for turn in (small, *turns):
            turn.discard()


async def test_an_answer_that_no_turn_takes_is_late_or_unknown(rig: Rig) -> None:
    asked, never = [QuestionReply("q1", Raw(b"1"))], [QuestionReply("q9", Raw(b"1"))]
    writer = await claim(rig.logs[0])
    write(writer, Question("q1", Raw(b"{}")), END)
    writer.end(is_received=False)
    waiting = await claim(rig.logs[0], OTHER)
    write(waiting, Question("q1", Raw(b"{}")))
    waiting.wait(60)
    await until(lambda: not rig.logs[0].turns)

    assert await rig.logs[1].answer(CHAT, asked, "ann") is Rejection.CLOSED
    assert await rig.logs[1].answer(CHAT, never, "ann") is Rejection.UNKNOWN
    assert await rig.logs[1].answer(OTHER, asked, "ann") is Rejection.CLOSED
