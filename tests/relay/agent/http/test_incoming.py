"""The frames of a response, whatever reads its bytes come in and wherever it is cut."""

from collections.abc import Sequence

import pytest

from support.http_dialect import CHUNKED, END, HEAD, chunk, chunked, sized
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.http.incoming import Incoming
from turnwire.relay.agent.http.refusal import EXCERPT_BYTES

CLOSED, LINE_LOST = DisconnectReason.CLOSED, DisconnectReason.LINE_LOST
BROKEN, TOO_BIG = DisconnectReason.BROKEN, DisconnectReason.TOO_BIG
TYPES = ("text/event-stream", "application/x-ndjson")
FRAMES = [b"one", b"two\nlines", b"3"]
BODY = b"data: one\n\n: comment\n\nevent: x\ndata: two\ndata: lines\n\ndata: 3\n\n"
LINES_HEAD = HEAD.replace(b"text/event-stream", b"application/x-ndjson")
UNSIZED = HEAD + b"\r\n" + BODY
LASTS = (b"one\n\n", b"lines\n\n", b"3\n\n")
ENDS = [(frame, UNSIZED.index(last) + len(last)) for frame, last in zip(FRAMES, LASTS, strict=True)]


def incoming(frame_bytes: int = 1_000) -> Incoming:
    return Incoming(TYPES, frame_bytes)


def frames_of(reader: Incoming, data: bytes, step: int | None = None) -> Sequence[bytes]:
    step = step or len(data) or 1
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    return [frame for piece in pieces for frame in reader.read(piece)]


@pytest.mark.parametrize("step", [None, 1, 2, 7])
@pytest.mark.parametrize(
    "response", [chunked(BODY), chunked(BODY[:20], BODY[20:]), sized(BODY), sized(BODY) + b"more"]
)
def test_a_whole_response(response: bytes, step: int | None) -> None:
    reader = incoming()

    assert list(frames_of(reader, response, step)) == FRAMES
    assert reader.end is CLOSED
    assert reader.is_accepted
    assert reader.refusal is None
    assert reader.connection_closed(in_order=True) == ()
    assert reader.end is CLOSED


@pytest.mark.parametrize("in_order", [True, False])
def test_a_response_that_is_cut_at_any_byte(*, in_order: bool) -> None:
    response = chunked(BODY[:30], BODY[30:])
    for at in range(len(response)):
        reader = incoming()
        frames = list(frames_of(reader, response[:at]))

        assert frames == FRAMES[: len(frames)]
        assert reader.end is None
        assert reader.connection_closed(in_order=in_order) == ()
        assert reader.end is LINE_LOST
        head_came = b"\r\n\r\n" in response[:at]
        assert reader.is_accepted is head_came
        assert (reader.refusal is None) is head_came
        if reader.refusal is not None:
            assert reader.refusal.why is DialFailure.HANDSHAKE


def test_a_response_that_the_close_ends_at_any_byte() -> None:
    """An event that is not complete is none: the standard says so."""
    for at in range(UNSIZED.index(b"\r\n\r\n") + 4, len(UNSIZED) + 1):
        for in_order, end in ((True, CLOSED), (False, LINE_LOST)):
            reader = incoming()
            frames = list(frames_of(reader, UNSIZED[:at]))

            assert frames == [frame for frame, ends_at in ENDS if at >= ends_at]
            assert list(reader.connection_closed(in_order=in_order)) == []
            assert reader.end is end


@pytest.mark.parametrize("step", [None, 1])
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_json_lines_whose_last_one_needs_no_end(end: bytes, step: int | None) -> None:
    reader = incoming()
    assert list(frames_of(reader, sized(b"{}\r\n\n[1]" + end, LINES_HEAD), step)) == [b"{}", b"[1]"]

    reader = incoming()
    frames = list(frames_of(reader, LINES_HEAD + b"\r\n{}\n[1]" + end, step))
    assert frames + list(reader.connection_closed(in_order=True)) == [b"{}", b"[1]"]
    assert reader.end is CLOSED


def test_a_line_that_is_cut_is_none() -> None:
    reader = incoming()
    assert frames_of(reader, LINES_HEAD + b"\r\n{}\n[1") == [b"{}"]

    assert reader.connection_closed(in_order=False) == ()


@pytest.mark.parametrize("data", [b"data: " + b"x" * 1_000, b": " + b"x" * 1_000, b"x" * 1_001])
def test_an_event_that_is_too_long(data: bytes) -> None:
    reader = incoming()
    reader.read(CHUNKED)

    assert reader.read(chunk(data)) == ()
    assert reader.end is TOO_BIG


def test_what_comes_before_broken_bytes_counts() -> None:
    reader = incoming()

    assert list(reader.read(CHUNKED + chunk(BODY) + b"no chunk")) == FRAMES
    assert reader.end is BROKEN
    assert not reader.response.is_reusable


def test_what_waits_for_the_end_of_its_event() -> None:
    reader = incoming()
    assert reader.held_bytes == 0

    reader.read(CHUNKED + chunk(b"data: one\n\ndata: tw"))

    assert reader.held_bytes == len(b"data: tw")


@pytest.mark.parametrize("step", [None, 1])
def test_the_body_of_a_refusal_is_no_stream(step: int | None) -> None:
    reader = incoming()

    assert frames_of(reader, sized(BODY, b"HTTP/1.1 500 No\r\n" + HEAD[17:]), step) == []
    assert reader.refusal is not None
    assert reader.refusal.why is DialFailure.STATUS
    assert reader.excerpt == BODY
    assert reader.has_excerpt


def test_only_the_beginning_of_it_is_read() -> None:
    reader = incoming()
    reader.read(b"HTTP/1.1 500 No\r\n\r\nbegin")
    assert not reader.has_excerpt

    for _ in range(2):
        reader.read(b"x" * EXCERPT_BYTES)

    assert reader.has_excerpt
    assert len(reader.excerpt) == EXCERPT_BYTES
    assert reader.excerpt.startswith(b"beginx")


def test_no_other_refusal_waits_for_a_body() -> None:
    reader = incoming()
    reader.read(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n")

    assert reader.refusal is not None
    assert reader.has_excerpt


def test_an_empty_body_has_no_frames() -> None:
    assert list(frames_of(incoming(), CHUNKED + END)) == []
