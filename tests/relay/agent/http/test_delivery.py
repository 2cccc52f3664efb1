"""Which frames a listener gets, in which company, and what ends the connection."""

from collections.abc import Iterator

import pytest

from support.open_websocket import RecordingListener
from turnwire.core.bounds import LONG_BYTES
from turnwire.core.wire.census import TooManyError
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.agent.http.delivery import BATCH, Delivery
from turnwire.relay.memory_budget import Budget

LONG = b"x" * (LONG_BYTES + 1)
BAD, LONG_BAD = b"\xff", LONG + b"\xff"


def delivery(budget_bytes: int = 0) -> tuple[Delivery, RecordingListener]:
    listener = RecordingListener()
    reservation = Budget(budget_bytes).holder("u1").reserve()
    return Delivery(listener, reservation), listener


def test_short_ones_come_together_and_long_ones_alone_in_order() -> None:
    frames = [b"a", b"b", LONG, b"c", LONG, LONG, *[b"d"] * (2 * BATCH + 1)]
    made, listener = delivery()

    steps = len(list(made.in_steps(frames)))

    assert listener.frames == frames
    assert made.problem is None
    assert steps == 2 + 3 + 2  # before two long frames, within three, between full batches


@pytest.mark.parametrize(
    ("frames", "delivered"),
    [
        ([b"a", "é".encode(), BAD, b"b"], 2),
        ([BAD], 0),
        ([b"a", LONG_BAD, b"b"], 1),
        ([b"a", BAD, LONG], 1),
        ([LONG, "é".encode() * LONG_BYTES, b"a"], 3),
    ],
)
def test_what_is_no_utf8_ends_it(frames: list[bytes], delivered: int) -> None:
    made, listener = delivery()

    list(made.in_steps(frames))

    assert listener.frames == frames[:delivered]
    is_whole = delivered == len(frames)
    assert made.problem is (None if is_whole else DisconnectReason.NOT_UTF8)


def test_a_long_frame_needs_room() -> None:
    made, listener = delivery(LONG_BYTES)

    list(made.in_steps([b"a", LONG, b"b"]))

    assert listener.frames == [b"a"]
    assert made.problem is DisconnectReason.NO_ROOM


def test_a_long_frame_of_too_many_values_ends_it() -> None:
    class Refusing(RecordingListener):
        def agent_long_frame(self, frame: bytes) -> Iterator[None]:
            yield from super().agent_long_frame(frame)
            raise TooManyError

    made = Delivery(Refusing(), Budget().holder("u1").reserve())

    list(made.in_steps([LONG, b"b"]))

    assert made.problem is DisconnectReason.UNSOUND


def test_nothing_is_delivered_once_it_is_over() -> None:
    made, listener = delivery()
    steps = made.in_steps([b"a", LONG, b"b"])
    next(steps)

    made.is_over = True
    list(steps)

    assert listener.frames == [b"a"]
