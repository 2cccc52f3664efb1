"""The slow path: any data is split into messages, input for the library, or a reason to end."""

import itertools

import pytest

from support.open_websocket import LONGEST, head, plain
from turnwire.core.bounds import CONTROLS_MAX, CONTROLS_PER_S, FRAGMENTS_MAX
from turnwire.relay.agent.failures import DisconnectReason
from turnwire.relay.agent.websocket_reader import (
    BATCH,
    Controls,
    ForLibrary,
    Reader,
    ReadResult,
)

PING = head(0x89, 2, mask=False) + b"hi"
FIRST = head(0x01, 2, mask=False) + b"ab"
MIDDLE = head(0x00, 2, mask=False) + b"cd"
LAST = head(0x80, 2, mask=False) + b"ef"


def read(data: bytes, size: int | None = None, max_bytes: int = LONGEST) -> list[ReadResult]:
    """All that comes of this data, in reads of `size`, but for steps that bring nothing."""
    reader, size = Reader(max_bytes), size or len(data)
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    return [item for piece in pieces for item in reader.read(piece) if item != []]


@pytest.mark.parametrize("size", [1, 2, 3, 7, None])
def test_fragments_are_one_message_and_controls_may_come_between_them(size: int | None) -> None:
    assert read(FIRST + PING + MIDDLE + LAST + plain(1), size) == [
        ForLibrary(PING, is_valid=True),
        [b"abcdef"],
        [b"x"],
    ]


@pytest.mark.parametrize("size", [1_000, 65_537, None])
@pytest.mark.parametrize("length", [65_535, 65_536, LONGEST])
def test_a_long_message_is_whole_however_the_reads_fall(length: int, size: int | None) -> None:
    items = read(plain(length) + plain(3), size)

    assert [message for item in items for message in item] == [b"x" * length, b"xxx"]  # type: ignore[union-attr]


def test_short_messages_come_in_batches() -> None:
    items = read(plain(0) * (BATCH + 1))

    assert [len(item) for item in items] == [BATCH, 1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(head(0x82, 1, mask=False) + b"a", DisconnectReason.BINARY, id="binary"),
        pytest.param(plain(101), DisconnectReason.TOO_BIG, id="too long"),
        pytest.param(
            head(0x01, 60, mask=False) + b"x" * 60 + head(0x80, 41, mask=False),
            DisconnectReason.TOO_BIG,
            id="too long in all",
        ),
        pytest.param(
            FIRST[:1] + b"\0" + (b"\0\0" * FRAGMENTS_MAX), DisconnectReason.UNSOUND, id="fragments"
        ),
    ],
)
def test_what_ends_the_connection_is_the_last_item(data: bytes, why: DisconnectReason) -> None:
    assert read(data + plain(3), max_bytes=100) == [why]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(LAST, id="nothing to continue"),
        pytest.param(head(0xC1, 1, mask=False) + b"a", id="an extension"),
        pytest.param(head(0x81, 3, mask=True) + b"maskabc", id="a mask"),
        pytest.param(head(0x83, 0, mask=False), id="a type that is none"),
        pytest.param(head(0x09, 0, mask=False), id="a control frame in fragments"),
        pytest.param(head(0x89, 126, mask=False) + b"x" * 126, id="a long control frame"),
    ],
)
def test_what_breaks_the_protocol_is_for_the_library_to_reject(data: bytes) -> None:
    assert read(data) == [ForLibrary(data, is_valid=False)]


def test_a_message_within_another_is_rejected() -> None:
    assert read(FIRST + plain(1)) == [ForLibrary(plain(1), is_valid=False)]


def test_what_is_not_complete_is_counted_as_held() -> None:
    reader, long = Reader(LONGEST), plain(65_536)
    pieces = [FIRST, MIDDLE[:1], MIDDLE[1:], LAST, long[:5], long[5:15], long[15:]]
    held = []
    for piece in pieces:
        list(reader.read(piece))
        held.append((reader.held_bytes, reader.is_between_messages))

    assert held == [
        (2, False),
        (3, False),
        (4, False),
        (0, True),
        (5, True),
        (5, False),
        (0, True),
    ]


@pytest.mark.parametrize("data", [plain(9)[:4], FIRST, plain(65_536)[:100]])
def test_what_is_discarded_is_not_held(data: bytes) -> None:
    reader = Reader(LONGEST)
    list(reader.read(data))

    reader.discard()

    assert (reader.held_bytes, reader.is_between_messages) == (0, True)
    assert list(reader.read(plain(2))) == [[b"xx"]]


def test_controls_may_come_in_a_burst_and_then_a_few_per_second() -> None:
    controls = Controls()
    burst = [controls.take(0) for _ in range(CONTROLS_MAX + 1)]
    steady = Controls()

    assert burst == [True] * CONTROLS_MAX + [False]
    assert all(steady.take(n / CONTROLS_PER_S) for n in range(2 * CONTROLS_MAX))
    assert not all(itertools.starmap(steady.take, [(1.0,)] * (CONTROLS_MAX + 1)))


def test_what_was_spent_comes_back_up_to_a_burst() -> None:
    controls = Controls()
    while controls.take(0):
        pass
    later = [controls.take(1e6) for _ in range(CONTROLS_MAX + 1)]

    assert later == [True] * CONTROLS_MAX + [False]
