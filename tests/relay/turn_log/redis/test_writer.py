"""The writes of many turns: in slices, between which the loop does other work, to the last one."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import until
from relay.turn_log.listening import write
from relay.turn_log.redis.rig import Rig, claim, gets_texts, is_flushed, new_rig, open_reader
from turnwire.core.events import TextDelta
from turnwire.core.turn_log.entries import TEXT_LENGTH
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import messages, scripts
from turnwire.relay.turn_log.redis import writer as writing
from turnwire.relay.turn_log.redis.batches import _ROWS, TextRows, Write, next_write, run_all
from turnwire.relay.turn_log.redis.found import LOST
from turnwire.relay.turn_log.redis.turn import RedisTurn
from turnwire.relay.turn_log.redis.writer import _FEW, _FLUSH_BYTES, _SLICE, Writer
from turnwire.relay.turn_log.tasks import end

pytestmark = pytest.mark.sockets


async def begun(rig: Rig, count: int) -> tuple[Writer, list[RedisTurn]]:
    """So many turns that have begun, and their writer, which writes nothing by itself any more."""
    log = rig.logs[0]
    turns = [await claim(log, ChatKey(f"chat{number}")) for number in range(count)]
    for turn in turns:
        write(turn, "a")
    await is_flushed(log, *turns)
    await end(*log._writer._tasks)
    return log._writer, turns


def noted(writer: Writer, made: Sequence[TextRows]) -> None:
    """The writer notes the replies to these rows."""
    list(writer._written_rows(made))


@pytest.mark.parametrize("count", [0, 1, _SLICE, _SLICE + 1, 3 * _SLICE])
async def test_the_loop_works_between_two_slices(count: int, redis: RedisServer) -> None:
    loop = asyncio.get_running_loop()
    rounds = 0

    def count_round() -> None:
        nonlocal rounds
        rounds += 1
        loop.call_soon(count_round)

    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, count)
        for turn in turns:
            turn.append_texts(["x"])
        made: list[TextRows] = []
        loop.call_soon(count_round)
        await writer._make(turns, made, [])

        assert [turn for rows in made for turn, _ in rows.rows()] == turns
        assert rounds == (0 if count <= _SLICE else -(-count // _SLICE) + 1)
        noted(writer, made)


@pytest.mark.usefixtures("patient")
async def test_what_redis_replies_to_rows(redis: RedisServer) -> None:
    """It took the first, the second is read by others now, and two are not its turns any more."""
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, 4)
        for turn in turns:
            turn.append_texts(["x"])
        made: list[TextRows] = []
        await writer._make(turns, made, [])
        (rows,) = made
        rows.replies = [[2, 0], [2, 7], [scripts.HOLE, 0], [scripts.LOST, 0]]
        noted(writer, made)

        assert [turn.readers for turn in turns] == [0, 7, 0, 0]
        assert writer.held_bytes == 0
        assert [turn.note for turn in turns] == ["", "", LOST, LOST]
        assert [turn.has_lease for turn in turns] == [True] * 3 + [False]


@pytest.mark.usefixtures("patient")
async def test_rows_without_a_reply_are_written_again(redis: RedisServer) -> None:
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, 3)
        for turn in turns:
            turn.append_texts(["x"])
        made: list[TextRows] = []
        await writer._make(turns, made, [])
        held = writer.held_bytes
        writer._dirty.clear()
        noted(writer, made)

        assert [turn.pending_bytes for turn in turns] == [held // 3] * 3
        assert writer.held_bytes == held
        assert list(writer._dirty) == turns


@pytest.mark.parametrize("is_cancelled", [False, True])
async def test_the_loop_works_while_many_rows_fail(
    redis: RedisServer, *, is_cancelled: bool
) -> None:
    """If the process stops meanwhile, none of the rows is forgotten."""
    loop = asyncio.get_running_loop()
    failed = [0]

    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, 5 * _SLICE)
        for turn in turns:
            turn.append_texts(["x"])
        await redis.kill()
        flushing = asyncio.create_task(writer._flush(turns))

        def look() -> None:
            failed.append(sum(turn.pending_bytes > 0 for turn in turns))
            if is_cancelled and failed[-1]:
                flushing.cancel()
            elif not flushing.done():
                loop.call_soon(look)

        look()
        await asyncio.wait([flushing])

        assert flushing.cancelled() == is_cancelled
        assert all(turn.pending_bytes for turn in turns)
        assert max(after - before for before, after in pairwise(failed)) <= _SLICE
        assert len(set(failed)) > 2 or is_cancelled
        await redis.start()


async def test_the_expected_reply_to_rows_is_that_of_redis(redis: RedisServer) -> None:
    """Byte for byte, with more rows than one byte can count."""
    async with new_rig(redis.url) as rig:
        writer, turns = await begun(rig, 20)
        for count in range(2, 300):
            for turn in turns[: count % 20 + 1]:
                turn.append_texts(["x"])
            made: list[TextRows] = []
            await writer._make(turns[: count % 20 + 1], made, [])
            await run_all(writer._servers, [], made)

            assert [rows.replies for rows in made] == [[]]
            noted(writer, made)
        assert turns[0].frames_written == 299
        assert writer.held_bytes == 0


async def test_a_turn_that_ends_in_a_full_redis_gives_its_chat_up_at_once(
    redis: RedisServer,
) -> None:
    """Though some of it was refused before: it does not wait until that is tried again."""
    async with new_rig(redis.url) as rig:
        writer, (turn,) = await begun(rig, 1)
        turn.append_texts(["b"])
        made: list[TextRows] = []
        await writer._make([turn], made, [])
        made[0].replies = [[scripts.FULL, 0]]
        noted(writer, made)
        assert turn in writer._stuck

        turn.end(is_received=False)
        writer._dirty.clear()
        writer._written(next_write(turn, 1_000, 1_000), [scripts.FULL, 0])
        assert turn in writer._dirty
        await writer._flush([turn])
        assert turn.is_written
        assert turn not in writer


async def test_rows_on_their_way_make_no_turn_lose_anything(redis: RedisServer) -> None:
    """They are among the bytes that are held, and over the limit there are no more of them."""
    async with new_rig(redis.url) as rig:
        writer, (one, other, third) = await begun(rig, 3)
        writer._total_bytes = 100
        one.append_texts(["x" * 90])
        made: list[TextRows] = []
        await writer._make([one], made, [])
        write(other, "y" * 50)
        other.keep_texts()
        assert writer.held_bytes > writer._total_bytes
        assert one.is_kept
        assert other.is_kept

        third.append_texts(["z"])
        await writer._make([third], made, [])
        assert [turn for rows in made for turn, _ in rows.rows()] == [one]
        write(other, "y" * 60)
        other.keep_texts()
        assert not other.is_kept
        noted(writer, made)


async def test_many_turns_are_written_at_once_and_each_is_read_as_it_is(redis: RedisServer) -> None:
    async with new_rig(redis.url) as rig:
        keys = [ChatKey(f"chat{number}") for number in range(2 * _ROWS + 1)]
        turns = [await claim(rig.logs[0], key) for key in keys]
        for number, turn in enumerate(turns):
            write(turn, "a")
            write(turn, f" {number}")
        await is_flushed(rig.logs[0], *turns)
        for turn in turns[::2]:
            turn.append_texts([" b", " c"])
        await is_flushed(rig.logs[0], *turns)

        for number, key in enumerate(keys):
            expected = f"a {number}" if number % 2 else f"a {number} b c"
            await gets_texts(await open_reader(rig.logs[1], key), expected)


@pytest.mark.usefixtures("patient")
async def test_rows_on_their_way_as_the_process_stops_are_there_once(redis: RedisServer) -> None:
    async with new_rig(redis.url) as rig:
        turn = await claim(rig.logs[0])
        write(turn, "a")
        await is_flushed(rig.logs[0], turn)
        await redis.ask("CLIENT", "PAUSE", "300", "ALL")
        write(turn, "b")
        await until(lambda: not turn.has_more)  # on its way
        assert rig.logs[0].held_bytes
        write(turn, "c")

        await rig.logs[0].aclose()

        assert rig.logs[0].held_bytes == 0
        await gets_texts(await open_reader(rig.logs[1]), "abc")


@pytest.mark.usefixtures("patient")
async def test_a_process_that_stops_writes_all_that_waits_however_much_it_is(
    redis: RedisServer,
) -> None:
    size, count = _FLUSH_BYTES // 4, 20
    async with new_rig(redis.url, turn_bytes=2 * size, total_bytes=2 * count * size) as rig:
        keys = [ChatKey(f"chat{number}") for number in range(count)]
        turns = [await claim(rig.logs[0], key) for key in keys]
        for turn in turns:
            turn.append_texts(["x" * size])

        await rig.logs[0].aclose()

        states = {await redis.ask("HGET", f"turnwire:{{{key}}}:turn", "state") for key in keys}
        sizes = {await redis.ask("LLEN", f"turnwire:{{{key}}}:entries") for key in keys}
    assert (states, sizes) == ({"gone"}, {"1"})


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
        noted(writer, made)

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
    """The client has seen them, and comes back to read what follows."""
    async with new_rig(redis.url) as rig:
        log = rig.logs[0]
        writer, (one, other, *more) = await begun(rig, 2 * _FEW)
        monkeypatch.setattr(writing, "UNREAD_S", 60.0)
        for turn in (one, other, *more):
            turn.append_texts(["x"])
        writer._urgent.clear()
        await log.answer(one.key, [], "u1")
        assert list(writer._dirty) == [one]
        assert writer._urgent.is_set()

        writer._urgent.clear()
        log._carry_out(other, [b"1", messages.answer("elsewhere", "u1", [])])
        assert list(writer._dirty) == [one, other]
        assert writer._urgent.is_set()


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

        writer._wake.clear()
        stays.append_texts(["y"])
        writer._unread.clear()
        writer._timer = None
        writer._write_unread()
        assert not writer._wake.is_set()
