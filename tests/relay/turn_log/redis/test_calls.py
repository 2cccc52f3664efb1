"""What a script gets: its arguments in MessagePack, and bytes apart."""

import msgspec
import pytest

from relay.turn_log.listening import HEAD, Control
from turnwire.core.turn_log.entries import frame, pack_texts
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.batches import _joined, append_call
from turnwire.relay.turn_log.redis.servers import Call, call_of
from turnwire.relay.turn_log.redis.turn import OVER, Batch, RedisTurn


def unpacked(call: Call) -> list[object]:
    """The arguments of a call, each of its data in its place."""
    values = msgspec.msgpack.decode(frame(call.values, call.count))
    data = iter(call.data)
    found = [next(data) if value is False else value for value in values]
    assert not list(data)
    return found


@pytest.fixture
def turn() -> RedisTurn:
    def nothing(*_: object) -> None:
        """Do nothing."""

    return RedisTurn(
        ChatKey("chat"),
        "turn",
        HEAD,
        Control(),
        on_change=nothing,
        on_held=nothing,
        on_too_long=nothing,
        on_not_received=nothing,
        turn_bytes=1 << 20,
        keep_s=60,
    )


def test_bytes_are_apart_and_keep_their_places() -> None:
    call = call_of(scripts.SEND, "ch\xe4t", "t", b"\xff", 7, b"")

    assert unpacked(call) == ["ch\xe4t", "t", b"\xff", 7, b""]
    assert call.chats == ("ch\xe4t",)


def test_joined_calls_have_the_arguments_of_each() -> None:
    calls = [call_of(scripts.SEND, name, "t", name.encode(), -1) for name in ("a", "b")]

    assert unpacked(_joined(calls)) == ["a", "t", b"a", -1, "b", "t", b"b", -1]
    assert _joined(calls).chats == ["a", "b"]
    assert _joined(calls[:1]) is calls[0]


def frames(*texts: str) -> list[bytes]:
    return [frame(pack_texts([text]), 1) for text in texts]


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (
            Batch(5, frames("a"), 1 << 40, {}, 2, "", 0),
            ["", 100, 2, "count", 1 << 40, 5, 1, 2, *frames("a")],
        ),
        (
            Batch(5, frames("a", "b"), 7, {}, 2, "", 0),
            ["", 100, 2, "count", 7, 5, 2, 2, *frames("a", "b")],
        ),
        (
            Batch(5, frames("a"), 7, {"note": "long", "closed": b"\x01"}, 2, "", 0),
            ["", 100, 6, "note", "long", "closed", b"\x01", "count", 7, 5, 1, 2, *frames("a")],
        ),
        (
            Batch(5, frames("a"), 7, {}, 2, OVER, -1),
            [OVER, -1, 2, "count", 7, 5, 1, 2, *frames("a")],
        ),
        (Batch(5, [], 7, {}, 2, OVER, 9), [OVER, 9, 0, 5, 0, 2]),
    ],
    ids=["one frame", "two frames", "fields", "the end", "nothing but the end"],
)
def test_a_batch_is_written_by_one_call(
    turn: RedisTurn, batch: Batch, expected: list[object]
) -> None:
    for _ in range(2):  # what is the same in each call of a turn, is packed once
        call = append_call(turn, batch, 50, 100)

        assert unpacked(call) == ["chat", "turn", 50, *expected]
        assert call.size == sum(map(len, batch.frames))


def test_what_waits_is_given_back_when_it_is_written(turn: RedisTurn) -> None:
    turn.append_texts([])
    turn.append_texts(["a", "b"])
    before = turn.pending_bytes
    turn.confirm(turn.batch(), 0)

    assert before == len(frame(pack_texts(["a", "b"]), 2))
    assert turn.pending_bytes == 0
    assert not turn.has_more
