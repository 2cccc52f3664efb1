"""What a script gets: its arguments in MessagePack, and bytes apart."""

import msgspec
import pytest

from relay.turn_log.listening import HEAD, Control
from turnwire.core.turn_log.entries import frame, pack_texts
from turnwire.relay.turn_log.port import ChatKey
from turnwire.relay.turn_log.redis import scripts
from turnwire.relay.turn_log.redis.address import read
from turnwire.relay.turn_log.redis.batches import (
    _CALL_BYTES,
    _ROWS,
    TextRows,
    _joined,
    append_call,
)
from turnwire.relay.turn_log.redis.clients import Packed
from turnwire.relay.turn_log.redis.found import LONG, LOST, OVER, Batch
from turnwire.relay.turn_log.redis.servers import Call, Servers, call_of
from turnwire.relay.turn_log.redis.turn import RedisTurn


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
        on_texts=nothing,
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
    call = append_call(turn, batch, 50, 100)

    assert unpacked(call) == ["chat", "turn", 50, *expected]
    assert call.size == sum(map(len, batch.frames))


def test_what_waits_is_given_back_when_it_is_written(turn: RedisTurn) -> None:
    turn.append_texts(["a", "b"])
    turn.keep_texts()
    before = turn.pending_bytes
    turn.confirm(turn.batch(), 0)

    assert before == len(frame(pack_texts(["a", "b"]), 2))
    assert turn.pending_bytes == 0
    assert not turn.has_more


def started(turn: RedisTurn) -> RedisTurn:
    turn.has_lease = True
    turn.append(pack_texts(["a"]), 1)
    turn.confirm(turn.batch(), 3)
    return turn


def test_texts_alone_are_a_row(turn: RedisTurn) -> None:
    started(turn)
    rows = TextRows(50, 100)
    for text in ("b", "c"):
        turn.append_texts([text])
        turn.append_texts([text])
        assert rows.add_texts_of([turn]) == []
    alike = [
        append_call(
            turn, Batch(first, [frame(pack_texts(2 * [text]), 2)], count, {}, 0, "", 0), 50, 100
        )
        for first, text, count in ((1, "b", 3), (2, "c", 5))
    ]

    call = rows.call()
    assert call.chats == ["chat", "chat"]
    assert call.size == rows.size == sum(each.size for each in alike)
    assert sent(call) == sent(_joined(alike))
    assert call.expected == msgspec.msgpack.encode([[2, 3], [3, 3]])
    assert list(rows.rows()) == [(turn, each.data[0]) for each in alike]


def sent(call: Call) -> list[object]:
    """The words of a call as they are sent, its values unpacked."""
    command = Servers(read("redis://127.0.0.1:1"))._command("EVALSHA", call)
    assert isinstance(command, Packed)
    head, _, rest = command.data.partition(b"\r\n")
    found: list[object] = []
    while rest:
        length, _, rest = rest.partition(b"\r\n")
        size = int(length.removeprefix(b"$"))
        found.append(rest[:size])
        assert rest[size : size + 2] == b"\r\n"
        rest = rest[size + 2 :]
    assert head == b"*%d" % len(found)
    at = 3 + call.script.parts * len(call.chats)
    values = found[at]
    assert isinstance(values, bytes)
    found[at] = msgspec.msgpack.decode(values)
    return found


@pytest.mark.parametrize("count", [1, 15, 16, _ROWS])
def test_the_expected_reply_to_rows_is_as_redis_packs_it(turn: RedisTurn, count: int) -> None:
    started(turn)
    rows = TextRows(50, 100)
    for _ in range(count):
        turn.append_texts(["x"])
        rows.add_texts_of([turn])

    assert rows.call().expected == msgspec.msgpack.encode([[2 + each, 3] for each in range(count)])


def test_a_call_has_a_number_and_a_size_of_rows(turn: RedisTurn) -> None:
    started(turn)
    rows = TextRows(50, 100)
    for _ in range(_ROWS):
        assert not rows.is_full
        turn.append_texts(["x"])
        rows.add_texts_of([turn])
    assert rows.is_full
    rows = TextRows(50, 100)
    rows.size = _CALL_BYTES + 1
    assert rows.is_full


def test_turns_with_more_than_texts_get_no_row(turn: RedisTurn) -> None:
    started(turn).append_texts(["x"])
    turn.keep_texts()
    rows = TextRows(50, 100)

    assert rows.add_texts_of([turn]) == [turn]
    assert list(rows.rows()) == []


def test_what_is_more_than_texts_is_no_row(turn: RedisTurn) -> None:
    assert turn.give_texts() == b""
    turn.append_texts(["first"])
    assert turn.has_begun
    assert turn.give_texts() == b""  # Redis does not know that it runs
    turn.has_lease = True
    turn.keep_texts()
    turn.append_texts(["b"])
    assert turn.give_texts() == b""  # the open frame is before it
    turn.keep_texts()
    batch = turn.batch()
    turn.append_texts(["c"])
    assert turn.give_texts() == b""  # and a frame that is on its way
    turn.confirm(batch, 0)
    assert turn.give_texts() == frame(pack_texts(["c"]), 1)
    assert turn.give_texts() == b""
    turn.append_texts(["d"])
    turn.end(is_received=True)
    assert turn.give_texts() == b""
    assert turn.batch().frames == [frame(pack_texts(["d"]), 1)]


@pytest.mark.parametrize(
    "texts",
    [["x"] * 64, ["x" * 257], ["x" * 257, "y"], ["x" * 9_000, "y" * 9_000]],
    ids=["many", "a long one", "a long one before another", "more than a frame"],
)
def test_many_texts_and_long_ones_are_packed_at_once(turn: RedisTurn, texts: list[str]) -> None:
    started(turn).append_texts(texts)

    assert turn.pending_bytes
    assert turn.give_texts() == b""


def test_texts_of_a_turn_that_becomes_long_are_no_row(turn: RedisTurn) -> None:
    started(turn)
    for _ in range(63):
        turn.append_texts(["x" * 256])
    assert turn.give_texts()
    turn._turn_bytes = turn._size + 100
    turn.append_texts(["x" * 256])

    assert turn.give_texts() == b""
    turn.keep_texts()
    assert turn.note == LONG


def test_a_row_that_redis_may_not_have_comes_before_what_came_after_it(turn: RedisTurn) -> None:
    started(turn).append_texts(["b", "c"])
    row = turn.give_texts()
    turn.append(pack_texts(["d"]), 1)
    turn.take_back(row)
    batch = turn.batch()

    assert batch.frames == [row, frame(pack_texts(["d"]), 1)]
    assert (batch.first, batch.count) == (1, 4)
    assert turn.pending_bytes == sum(map(len, batch.frames))


def test_a_row_of_a_turn_that_was_lost_is_lost(turn: RedisTurn) -> None:
    started(turn).append_texts(["b"])
    row = turn.give_texts()
    turn.append_texts(["c"])
    turn.lose(LOST)
    turn.take_back(row)

    assert turn.pending_bytes == 0
    assert turn.batch().frames == []
    assert turn.give_texts() == b""
