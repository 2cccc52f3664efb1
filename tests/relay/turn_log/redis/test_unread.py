"""How long texts wait before they are written: longer if nobody reads their turn."""

from collections.abc import Sequence

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import until
from relay.turn_log.listening import Control, write
from relay.turn_log.redis.rig import begun, claim, gets_texts, is_flushed, new_rig, open_reader
from turnwire.core.events import TextDelta
from turnwire.core.rejection import Rejection
from turnwire.core.requests import QuestionReply
from turnwire.core.turn_log.entries import TEXT_LENGTH
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import messages
from turnwire.relay.turn_log.redis import writer as writing
from turnwire.relay.turn_log.redis.batches import TextRows, Write
from turnwire.relay.turn_log.redis.writer import _FEW

pytestmark = pytest.mark.sockets


class Agrees(Control):
    """A stream that takes any answer."""

    def answer(self, replies: Sequence[QuestionReply], user_id: str) -> None:
        self.answers.append((replies, user_id))


async def test_texts_of_one_of_many_turns_wait_until_more_have_come(redis: RedisServer) -> None:
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, _FEW + 1)
        for turn in turns:
            turn.append_texts(["x"])
        assert (list(writer._dirty), list(writer._unread)) == ([], turns)
        for turn in turns:
            turn.append_texts(["y"])

        await until(lambda: writer._dirty)
        assert list(writer._dirty) == turns
        await writer._flush(turns)
        assert [turn.frames_written for turn in turns] == [2] * len(turns)


async def test_other_changes_of_many_turns_do_not_wait(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, _FEW + 4)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        asks, ends, is_read, is_long, *_ = turns
        is_read.set_readers(1)
        for turn in turns:
            turn.append_texts(["x"])
        write(asks, TextDelta("y"))
        ends.end(is_received=False)
        is_long.append_texts(["z" * (TEXT_LENGTH + 1)])

        assert set(writer._dirty) == {asks, ends, is_read, is_long}


async def test_texts_of_few_turns_do_not_wait(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, _FEW)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        for turn in turns:
            turn.append_texts(["x"])

        assert list(writer._dirty) == turns


async def test_texts_wait_no_longer_when_the_first_reader_comes(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with new_rig(redis.url) as rig:
        here, there = rig.logs
        keys = [ChatKey(f"chat{number}") for number in range(2 * _FEW)]
        turns = [await claim(here, key) for key in keys]
        for turn in turns:
            write(turn, "a")
        await is_flushed(here, *turns)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        for turn in turns:
            turn.append_texts(["b"])
        reader = await open_reader(there, keys[3])
        await gets_texts(reader, "ab")
        turns[3].append_texts(["c"])
        await gets_texts(reader, "abc")

        assert [turn.has_more for turn in turns] == [turn is not turns[3] for turn in turns]


async def test_texts_that_wait_are_written_as_the_process_stops(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with new_rig(redis.url) as rig:
        _, turns = await begun(rig, 2 * _FEW)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        for turn in turns:
            turn.append_texts(["b"])
        await rig.logs[0].aclose()

        for turn in turns:
            await gets_texts(await open_reader(rig.logs[1], turn.key), "ab")


async def test_texts_that_came_during_a_write_wait_until_more_have_come(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever was written, and also when there are fewer turns by then."""
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, _FEW + 2)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        wrote, is_read, *others = turns
        write(wrote, TextDelta("x"))
        is_read.append_texts(["x"])
        made: list[TextRows] = []
        writes: list[Write] = []
        await writer._make([wrote, is_read], made, writes)
        wrote.append_texts(["y"])
        is_read.append_texts(["y"])
        writer._dirty.clear()
        writer._written(writes[0], [2, 0])
        made[0].replies = [[2, 1]]
        list(writer._written_rows(made))

        assert (list(writer._dirty), set(writer._unread)) == ([is_read], {wrote, is_read})
        for turn in others:
            writer._turns.pop(turn)
        assert len(writer) <= _FEW
        writer._go_on(wrote)
        assert set(writer._dirty) == {is_read, wrote}
        writer._turns |= dict.fromkeys(others)


async def test_texts_wait_no_longer_when_somebody_answers(
    redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client has seen them, and comes back to read what follows. A refusal changes nothing."""
    async with new_rig(redis.url) as rig:
        log = rig.logs[0]
        writer, (one, other, *more) = await begun(rig, 2 * _FEW)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        for turn in (one, other, *more):
            turn.append_texts(["x"])
        writer._urgent.clear()
        assert await log.answer(one.key, [], "u1") is Rejection.CLOSED
        assert not writer._dirty
        one.control = Agrees()
        assert await log.answer(one.key, [], "u1") is None
        assert (list(writer._dirty), one in writer._unread) == ([one], False)
        assert writer._urgent.is_set()

        writer._urgent.clear()
        log._carry_out(other, [b"1", messages.answer("elsewhere", "u1", [])])
        assert list(writer._dirty) == [one, other]
        assert writer._urgent.is_set()


async def test_nobody_hurries_a_turn_of_which_nothing_waits(redis: RedisServer) -> None:
    async with new_rig(redis.url) as rig:
        writer, (turn, gone) = await begun(rig, 2)
        gone.append_texts(["x"])
        writer._turns.pop(gone)
        writer._dirty.clear()
        writer._urgent.clear()
        for each in (turn, gone):
            writer.hurry(each)

        assert not writer._dirty
        assert not writer._urgent.is_set()


async def test_a_turn_that_ends_leaves_no_timer_to_those_that_follow(redis: RedisServer) -> None:
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, _FEW + 2)
        gone, stays, *_ = turns
        gone.append_texts(["x"])
        timer = writer._timer
        writer.forget(gone)
        stays.append_texts(["x"])
        assert writer._timer is timer
        await until(lambda: writer._timer is None)
        assert list(writer._dirty) == [stays]

        assert writer._urgent.is_set()
        writer._wake.clear()
        writer._urgent.clear()
        turns[2].append_texts(["x"])
        writer.forget(turns[2])
        await until(lambda: writer._timer is None)
        assert not writer._wake.is_set()
