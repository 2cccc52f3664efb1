"""Bytes of server-sent events, cut at any places."""

import pytest

from turnwire_client.errors import TooLargeError
from turnwire_client.event_stream import KEEPALIVE, EventStream
from turnwire_client.limits import Limits

BODY = (
    b"\xef\xbb\xbf: stream-open\n\nevent: text-delta\ndata: {1}\n\n: keepalive\n\n"
    b"id: 7\nretry: 9\ndata:{2\ndata: }\n\ndata\n\nevent: ping\n\ndata: [DONE]\n\ndata: {cut"
)
FOUND = [KEEPALIVE, b"{1}", KEEPALIVE, b"{2\n}", b"[DONE]"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_have_their_data_wherever_the_bytes_are_cut(end: bytes, size: int) -> None:
    body = BODY.replace(b"\n", end)
    stream = EventStream(Limits())

    found = [item for at in range(0, len(body), size) for item in stream.feed(body[at : at + size])]

    assert found == FOUND


@pytest.mark.parametrize(
    ("limits", "body"),
    [
        (Limits(line_bytes=9), b"data: 1234"),
        (Limits(event_bytes=4), b"data: 123\ndata: 4\n\n"),
        (Limits(event_bytes=4), b"data:\n" * 6),
        (Limits(turn_bytes=20), b": keepalive\n\n" * 2),
    ],
)
def test_what_is_longer_than_its_bound_is_an_error(limits: Limits, body: bytes) -> None:
    stream = EventStream(limits)
    pieces = (body[at : at + 1] for at in range(len(body)))

    with pytest.raises(TooLargeError):
        assert [item for piece in pieces for item in stream.feed(piece)]


def test_what_came_before_the_bound_is_there() -> None:
    stream = EventStream(Limits(line_bytes=20)).feed(b"data: 1\n\n" + b"x" * 30)

    assert next(stream) == b"1"
    with pytest.raises(TooLargeError):
        next(stream)
