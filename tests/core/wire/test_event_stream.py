"""Events of a body, whatever reads it comes in, as the standard says what an event is."""

import itertools
import random
from collections.abc import Callable, Iterator

import pytest

from support.seeds import each_seed
from turnwire.core.bounds import ID_MAX
from turnwire.core.wire.event_stream import (
    LINES_MAX,
    EventStreamReader,
    EventTooLongError,
    JsonLinesReader,
    NamedEvent,
    StreamReader,
)

PLENTY = 1_000_000


def described(event: bytes) -> tuple[bytes, str, str]:
    return (event, event.name, event.id) if isinstance(event, NamedEvent) else (event, "", "")


def read(reader: StreamReader, *pieces: bytes) -> list[tuple[bytes, str, str]]:
    return [described(event) for piece in pieces for event in reader.read(piece)]


def events(*pieces: bytes) -> list[tuple[bytes, str, str]]:
    return read(EventStreamReader(PLENTY), *pieces)


def datas(*pieces: bytes) -> list[bytes]:
    return [data for data, _, _ in events(*pieces)]


def by_the_standard(body: bytes) -> Iterator[tuple[bytes, str, str]]:
    """Section 9.2.6 of the HTML standard, step by step, on bytes."""
    buffer, name, event_id = b"", "", ""
    body = body.removeprefix(b"\xef\xbb\xbf")
    lines, line, after_cr = [], b"", False
    for byte in (body[index : index + 1] for index in range(len(body))):
        if byte == b"\n" and after_cr:
            after_cr = False
            continue
        after_cr = byte == b"\r"
        if byte in {b"\r", b"\n"}:
            lines.append(line)
            line = b""
        else:
            line += byte
    for line in lines:
        if not line:
            if buffer:
                yield buffer[:-1], name, event_id
            buffer, name = b"", ""
            continue
        if line.startswith(b":"):
            continue
        field, colon, value = line.partition(b":")
        if colon and value.startswith(b" "):
            value = value[1:]
        if field == b"data":
            buffer += value + b"\n"
        elif field == b"event":
            name = value.decode(errors="replace")
        elif field == b"id" and b"\0" not in value:
            event_id = value.decode(errors="replace")


LINES = (
    *(b"data: {}", b"data:{}", b"data", b"data:", b"data:  two", b'data: {"a": "\xe2\x80\xa8"}'),
    *(b"event: progress", b"event:", b"id: 7", b"id", b"id: a\0b", b"retry: 10", b"retry: no"),
    *(b": comment", b":", b"unknown: field", b"unknown", b"Data: {}", b" data: {}"),
    *(b"", b"", b"", b"", b"\xef\xbb\xbfdata: {}", b"data: \xff", b"event: \xff"),
)


@each_seed(3_000)
def test_events_are_those_of_the_standard_whatever_reads_they_come_in(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (a test)
    end = dice.choice([b"\n", b"\r\n", b"\r", b""])
    body = b"\xef\xbb\xbf" if dice.random() < 0.2 else b""
    for _ in range(dice.randrange(20)):
        body += dice.choice(LINES) + (end or dice.choice([b"\n", b"\r\n", b"\r"]))
    cuts = sorted(dice.choices(range(len(body) + 1), k=dice.randrange(8)))
    pieces = [body[a:b] for a, b in itertools.pairwise([0, *cuts, len(body)])]

    assert events(*pieces) == list(by_the_standard(body))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_byte_at_a_time(end: bytes) -> None:
    lines = [b"\xef\xbb\xbfdata: a", b"data: b", b"", b": c", b"data: \xe2\x82\xac", b"", b""]
    body = end.join(lines)

    assert datas(*(body[index : index + 1] for index in range(len(body)))) == [
        b"a\nb",
        "€".encode(),
    ]


def test_an_event_that_its_body_does_not_end_is_dropped() -> None:
    assert datas(b"data: a\n\ndata: b\n") == [b"a"]


def test_a_name_is_of_one_event_and_an_id_of_all_behind_it() -> None:
    assert events(b"event: one\nid: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n") == [
        (b"a", "one", "1"),
        (b"b", "", "1"),
        (b"c", "", ""),
    ]


def test_a_read_of_nothing_but_plain_events_is_like_any_other() -> None:
    assert datas(b"data: a\n\n", b"\xef\xbb\xbfdata: b\n\n") == [b"a"]  # no mark: not the first
    assert events(b"id: 7\ndata: a\n\n", b"data: b\n\n") == [(b"a", "", "7"), (b"b", "", "7")]
    assert datas(b"data: a\rdata: b\n\n", b"data: c\r\r", b"data: d\n\n", b"\ndata: e\n\n") == [
        *(b"a\nb", b"c", b"d", b"e")
    ]


def test_after_a_read_of_plain_events_every_line_end_counts() -> None:
    reader = EventStreamReader(1_000)

    assert read(reader, b"data: a\r\r", b"data: b\n\n", b"\n\n: c\n")[1:] == [(b"b", "", "")]
    assert read(reader, *[b": ping\n"] * 300) == []
    assert reader.held_bytes <= len(b": ping\n")


def test_an_event_without_name_and_id_is_plain_bytes() -> None:
    reader = EventStreamReader(PLENTY)

    assert [type(event) for event in reader.read(b"data: a\n\n:c\ndata: b\n\n")] == [bytes, bytes]


def test_an_id_or_a_name_that_is_too_long_is_none() -> None:
    longest, too_long = b"i" * ID_MAX, b"i" * (ID_MAX + 1)

    assert events(b"id: " + longest + b"\ndata: a\n\n") == [(b"a", "", longest.decode())]
    assert events(b"id: " + too_long + b"\nevent: " + too_long + b"\ndata: a\n\n") == [
        (b"a", "", "")
    ]


@pytest.mark.parametrize(
    "pieces",
    [
        [b"data: " + b"x" * 95],
        [b"data: ", b"x" * 95],
        [b"data: " + b"x" * 95 + b"\n\n"],
        [b"data: a\n\ndata: " + b"x" * 95],
        [b": " + b"x" * 99],
        [b"data: a\n" * 13],
        [b"data: " + b"x" * 94, b"\nid: 1"],
    ],
)
def test_an_event_that_is_too_long_ends_the_reading(pieces: list[bytes]) -> None:
    reader = EventStreamReader(100)

    with pytest.raises(EventTooLongError):
        read(reader, *pieces)


@pytest.mark.parametrize("line", [b"data:\n", b":\n", b"data: x\n"])
def test_an_event_of_too_many_lines_ends_the_reading(line: bytes) -> None:
    with pytest.raises(EventTooLongError):
        read(EventStreamReader(PLENTY), b"data: first\n" + line * LINES_MAX + b"\n")


def test_an_event_may_have_many_lines() -> None:
    (event,) = EventStreamReader(PLENTY).read(b"data: x\n" * LINES_MAX + b"\n")

    assert event == b"\n".join([b"x"] * LINES_MAX)


def test_an_event_of_the_longest_length_is_read() -> None:
    assert EventStreamReader(100).read(b"data: " + b"x" * 94 + b"\n\n") == [b"x" * 94]
    assert JsonLinesReader(100).read(b"x" * 100 + b"\n") == [b"x" * 100]


@pytest.mark.parametrize("comment", [b":\n", b": still here\n", b": a\n: b\n", b": a\r\n"])
def test_comments_for_hours_hold_no_memory(comment: bytes) -> None:
    reader = EventStreamReader(100)

    for _ in range(1_000):
        assert reader.read(comment[:1]) == []
        assert reader.read(comment[1:]) == []
        assert reader.held_bytes <= 1
    assert reader.read(b"data: a\n\n") == [b"a"]


def test_what_is_held_is_counted() -> None:
    reader = EventStreamReader(PLENTY)

    reader.read(b"data: a\n\ndata: ")
    assert reader.held_bytes == 6
    reader.read(b"bc")
    assert reader.held_bytes == 8
    reader.read(b"\n\n")
    assert reader.held_bytes == 0


@pytest.mark.parametrize("new", [EventStreamReader, JsonLinesReader])
def test_a_long_event_is_copied_a_few_times_however_many_reads_it_takes(
    new: Callable[[int], StreamReader],
) -> None:
    reader = new(1 << 30)
    piece = b"x" * 1_000

    reader.read(b"data: ")
    for _ in range(20_000):  # quadratic: two hundred gigabytes
        assert reader.read(piece) == []

    assert len(reader.read(b"\n\n")[0]) in {20_000_000, 20_000_006}


def test_an_event_of_many_lines_is_copied_a_few_times_however_many_reads_it_takes() -> None:
    reader = EventStreamReader(1 << 30)
    line = b"data: " + b"x" * 10_000 + b"\n"

    for _ in range(5_000):  # quadratic: a hundred gigabytes
        assert reader.read(line) == []

    assert len(reader.read(b"\n")[0]) == 5_000 * 10_001 - 1


@each_seed(300)
def test_events_of_one_line_are_read_whatever_reads_they_come_in(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (a test)
    texts = [b"{}", b"\xe2\x82\xac" * dice.randrange(9), b"", b" two", b"data: ", b"x" * 2_000]
    expected = dice.choices(texts, k=dice.randrange(1, 20))
    body = b"".join([b"data: %b\n\n" % text for text in expected])
    if dice.random() < 0.3:
        body, expected = body + b"id: 7\n" + body, expected * 2
    cuts = sorted(dice.choices(range(len(body) + 1), k=dice.randrange(8)))
    pieces = [body[a:b] for a, b in itertools.pairwise([0, *cuts, len(body)])]

    assert datas(*pieces) == expected


@each_seed(300)
def test_json_lines_are_read_whatever_reads_they_come_in(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 (a test)
    lines = dice.choices([b"{}", b'{"a": 1}', b"", b"[]\r", b"\r", b'"\xe2\x80\xa8"'], k=9)
    body = b"\n".join(lines) + dice.choice([b"", b"\n"])
    cuts = sorted(dice.choices(range(len(body) + 1), k=5))
    pieces = [body[a:b] for a, b in itertools.pairwise([0, *cuts, len(body)])]
    expected = [line.removesuffix(b"\r") for line in body.split(b"\n")[:-1]]

    reader = JsonLinesReader(PLENTY)
    assert [event for piece in pieces for event in reader.read(piece)] == [
        line for line in expected if line
    ]


def test_a_line_that_is_too_long_ends_the_reading() -> None:
    with pytest.raises(EventTooLongError):
        JsonLinesReader(100).read(b"x" * 101)
    with pytest.raises(EventTooLongError):
        JsonLinesReader(100).read(b"x" * 101 + b"\n")
    reader = JsonLinesReader(100)
    reader.read(b"x" * 60)
    assert reader.held_bytes == 60
    with pytest.raises(EventTooLongError):
        reader.read(b"x" * 60)
