"""The writes of many turns: in slices, between which the loop does other work, to the last one."""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import until
from relay.turn_log.listening import write
from relay.turn_log.redis.rig import begun, claim, gets_texts, is_flushed, new_rig, open_reader
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.batches import _ROWS, TextRows, next_write, run_all
from turnwire.relay.turn_log.redis.found import LOST
from turnwire.relay.turn_log.redis.writer import _FLUSH_BYTES, _SLICE, Writer

pytestmark = pytest.mark.sockets


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
