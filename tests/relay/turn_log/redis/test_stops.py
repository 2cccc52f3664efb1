"""Stops of turns in Redis: they reach the process of the turn, and wait until it is over."""

import asyncio

import pytest

from gateway.redis_server import RedisServer
from gateway.waiting import until
from relay.turn_log.listening import Control, write
from relay.turn_log.redis.rig import CHAT, Rig, claim, gets, open_reader
from turnwire.core import events
from turnwire.core.events import Reason, TextDelta, TurnFinished
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.turn_log.entries import Head, Joined
from turnwire.relay.turn_log.redis import asking, messages

pytestmark = pytest.mark.sockets


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop does not wait for long until the turn is over."""
    monkeypatch.setattr(asking, "_GIVE_UP_S", 0.3)


@pytest.mark.usefixtures("impatient")
async def test_a_stop_reaches_the_process_of_the_turn(rig: Rig) -> None:
    stopped = StopResult(stopped=True, turn_id="t1", reason="canceled")
    control = Control(stopped)
    await claim(rig.logs[0], control=control)

    assert await rig.logs[1].stop(CHAT, "t1") == stopped
    assert await rig.logs[0].stop(CHAT, None) == stopped
    assert control.stopped == ["t1", None]


@pytest.mark.parametrize("stopping", [0, 1], ids=["here", "elsewhere"])
async def test_a_stop_waits_until_the_turn_is_over(stopping: int, rig: Rig) -> None:
    stopped = StopResult(stopped=True, turn_id="t1", reason="canceled")
    control = Control(stopped)
    control.is_over.clear()
    writer = await claim(rig.logs[0], control=control)

    stop = asyncio.create_task(rig.logs[stopping].stop(CHAT, None))
    await until(lambda: control.stopped)
    await asyncio.sleep(0.2)
    assert not stop.done()
    writer.end(is_received=True)
    control.is_over.set()

    assert await stop == stopped


async def test_a_stop_that_is_refused(rig: Rig) -> None:
    await claim(rig.logs[0], control=Control(Rejection.OTHER_TURN))

    assert await rig.logs[1].stop(CHAT, "t2") is Rejection.OTHER_TURN


@pytest.mark.usefixtures("impatient")
async def test_a_stop_that_comes_twice_is_one(rig: Rig, redis: RedisServer) -> None:
    """A reply may be lost on its way to Redis: then the message comes again."""
    stopped = StopResult(stopped=True, turn_id="t1", reason="canceled")
    control = Control(stopped)
    writer = await claim(rig.logs[0], control=control)
    assert await rig.logs[1].stop(CHAT, "t1") == stopped
    (number,) = writer.replies
    await redis.ask("DEL", "turnwire:{chat}:replies")

    message = messages.stop("p", "t1")
    for _ in range(2):
        rig.logs[0]._carry_out(writer, [number, message])

    await until(lambda: rig.logs[0]._lane._running is None)
    assert control.stopped == ["t1"]
    assert await redis.ask("HLEN", "turnwire:{chat}:replies") == "1"


async def test_nothing_to_stop(rig: Rig) -> None:
    assert await rig.logs[1].stop(CHAT, None) is Rejection.UNKNOWN
    writer = await claim(rig.logs[0])
    write(writer, TurnFinished(reason=Reason.END_TURN))
    writer.end(is_received=True)
    await until(lambda: not rig.logs[0].turns)

    assert await rig.logs[1].stop(CHAT, None) is Rejection.UNKNOWN


async def test_a_turn_that_waits_is_stopped_from_anywhere(rig: Rig) -> None:
    writer = await claim(rig.logs[0])
    write(writer, events.TurnStarted("t1"), "a")
    writer.wait(60)
    await until(lambda: not rig.logs[0].turns)

    assert await rig.logs[1].stop(CHAT, "t2") is Rejection.OTHER_TURN
    await until(lambda: not rig.logs[1].turns)
    assert await rig.logs[1].stop(CHAT, None) == StopResult(
        stopped=True, turn_id="t1", reason="canceled"
    )
    reader = await open_reader(rig.logs[0])
    canceled = TurnFinished(reason=Reason.CANCELED)
    await gets(
        reader, Head("p1", "u1"), Joined(3), events.TurnStarted("t1"), TextDelta("a"), canceled
    )
