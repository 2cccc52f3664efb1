import random

import pytest

from turnwire_agent.llm import sse
from turnwire_agent.llm.sse import EventReader, ServerSentEvent, TooLongError

BODY = (
    b"\xef\xbb\xbf: comment\n\ndata: one\n\nevent: named\ndata: two\r\ndata:  lines \r\n\r\n"
    b"id: 7\nretry: 1\ndata\n\ndata:\xc3\xbc\xe2\x80\xa8x\r\rdata: last\n\ndata: never ends\n"
)
EVENTS = [
    ServerSentEvent("", b"one"),
    ServerSentEvent("named", b"two\n lines "),
    ServerSentEvent("", b""),
    ServerSentEvent("", b"\xc3\xbc\xe2\x80\xa8x"),
    ServerSentEvent("", b"last"),
]


def read(chunks: list[bytes]) -> list[ServerSentEvent]:
    reader = EventReader()
    return [event for chunk in chunks for event in reader.feed(chunk)]


def test_a_body_is_its_events_but_one_without_its_end() -> None:
    assert read([BODY]) == EVENTS


def test_every_cut_in_two_gives_the_same() -> None:
    for at in range(len(BODY)):
        assert read([BODY[:at], BODY[at:]]) == EVENTS


def test_byte_by_byte_and_any_other_way_gives_the_same() -> None:
    assert read([bytes([byte]) for byte in BODY]) == EVENTS
    for seed in range(300):
        dice = random.Random(seed)  # noqa: S311 (a seed makes one case)
        cuts = sorted(dice.sample(range(len(BODY)), k=dice.randint(1, 12)))
        pieces = zip([0, *cuts], [*cuts, len(BODY)], strict=True)
        assert read([BODY[start:end] for start, end in pieces]) == EVENTS


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_each_end_of_a_line_is_one(end: bytes) -> None:
    body = BODY.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", end)

    assert read([bytes([byte]) for byte in body + b":"]) == EVENTS


@pytest.mark.parametrize(
    ("before", "chunk"),
    [
        (b"", b"data: a\n\n"),
        (b"", b"data: \n\n"),
        (b"", b"data: a\r\n\n"),
        (b"", b"data: a\rb\n\n"),
        (b"", b"data: a\ndata: b\n\n"),
        (b"", b"data: a\n\ndata: b\n\n"),
        (b"", b"data: a\n"),
        (b"", b"data: a"),
        (b"", b"data: \n"),
        (b"da", b"data: a\n\n"),
        (b"data: b\n", b"data: a\n\n"),
        (b"event: b\n", b"data: a\n\n"),
        (b": comment\n", b"data: a\n\n"),
        (b"data: b\r", b"data: a\n\n"),
        (b"\xef\xbb", b"data: a\n\n"),
        (b"data: a\n\n", b"\xef\xbb\xbfdata: a\n\n"),
    ],
)
def test_a_chunk_that_is_one_event_is_read_as_any_other(before: bytes, chunk: bytes) -> None:
    end = b"data: last\n\n"
    slowly = [bytes([byte]) for byte in before + chunk + end]

    assert read([before, chunk, end]) == read(slowly)


def test_an_event_in_one_chunk_may_be_as_long_as_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LINE_BYTES", 100)
    whole = b"data: " + b"x" * 99 + b"\n\n"

    assert read([whole]) == read([whole[:50], whole[50:]]) == [ServerSentEvent("", b"x" * 99)]
    for longer in (b"x" + whole[6:-2], b"xy" + whole[6:-2]):
        with pytest.raises(TooLongError):
            EventReader().feed(b"data: " + longer + b"\n\n")


def test_a_line_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LINE_BYTES", 100)
    reader = EventReader()

    for _ in range(10):
        reader.feed(b"x" * 10)

    with pytest.raises(TooLongError):
        reader.feed(b"x")


def test_an_event_that_is_too_long_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "LINE_BYTES", 100)
    reader = EventReader()

    for _ in range(10):
        reader.feed(b"data: 123456789\n")

    with pytest.raises(TooLongError):
        reader.feed(b"data:\n")


def test_a_long_line_in_small_pieces_is_joined_once() -> None:
    reader = EventReader()
    reader.feed(b"data: ")
    for _ in range(1000):
        reader.feed(b"x" * 50)
    assert len(reader._rest) == 1001

    assert reader.feed(b"\n\n") == [ServerSentEvent("", b"x" * 50_000)]
