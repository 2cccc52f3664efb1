"""Keys of another release, or of somebody else: nothing is read from them, and nothing breaks."""

import asyncio

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import until
from relay.turn_log.listening import write
from relay.turn_log.redis.rig import (
    CHAT,
    OTHER,
    Rig,
    claim,
    gets_texts,
    is_flushed,
    open_reader,
    texts,
)
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log.entries import Absent
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.turn_log.port import NOBODY
from turnwire.relay.turn_log.redis import readers
from turnwire.relay.turn_log.redis.messages import carry_out, read_result

pytestmark = pytest.mark.sockets


@pytest.mark.parametrize(
    "field",
    [
        ("count", "many"),
        ("base", "x"),
        ("closed", "no entries"),
        ("closed", "\N{LATIN SMALL LETTER A WITH DIAERESIS}"),
    ],
)
async def test_a_turn_that_is_described_otherwise_is_no_turn(
    field: tuple[str, str], rig: Rig, redis: RedisServer
) -> None:
    write(writer := await claim(rig.logs[0]), "a")
    await is_flushed(rig.logs[0], writer)
    await redis.ask("HSET", "turnwire:{chat}:turn", *field)

    assert (await open_reader(rig.logs[1])).entries == [Absent()]


async def test_a_turn_that_waits_from_a_place_before_the_first_harms_no_other(
    rig: Rig, redis: RedisServer
) -> None:
    write(writer := await claim(rig.logs[0]), "a")
    writer.wait(60)
    await until(lambda: writer.is_written)
    await redis.ask("HSET", "turnwire:{chat}:turn", "base", "-1")

    waiting = await rig.logs[1].resume_waiting(CHAT, NOBODY)
    if waiting is not None:
        write(waiting.writer, "b")
    write(await claim(rig.logs[1], OTHER), "c")
    await gets_texts(await open_reader(rig.logs[0], OTHER), "c")


async def test_a_key_of_another_type_harms_its_own_chat_alone(
    rig: Rig, redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers, "LEASE_S", 0.5)
    writer, neighbour = await claim(rig.logs[0]), await claim(rig.logs[0], OTHER)
    write(writer, "a")
    write(neighbour, "b")
    await is_flushed(rig.logs[0], writer, neighbour)
    both = [await open_reader(rig.logs[1], key) for key in (CHAT, OTHER)]
    await until(lambda: all(texts(each) for each in both))
    await redis.ask("DEL", "turnwire:{chat}:entries")
    await redis.ask("SET", "turnwire:{chat}:entries", "x")

    for number in range(10):
        write(writer, str(number))
        write(neighbour, str(number))
        await asyncio.sleep(0.01)

    await until(lambda: texts(both[1]) == "b0123456789")
    await until(lambda: both[0].left)
    assert both[0].left is DisconnectReason.LINE_LOST
    assert texts(both[0]) == "a"


@pytest.mark.parametrize("data", [b"", b"x", b"\x81\xa4type\xa3new", b"\xff"])
def test_a_message_that_is_not_understood(data: bytes) -> None:
    assert carry_out(data, NOBODY) is None
    assert read_result(data) is Rejection.SILENT
