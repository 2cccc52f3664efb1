"""The bytes of a request, and the pieces in which they are written."""

import pytest

from support.http_socket import MemorySocket
from turnwire.relay.agent.http.request import (
    PIECE_BYTES,
    PIECES_PER_STEP,
    RequestWriter,
    head_of,
)
from turnwire.relay.agent.port import AgentTarget

ACCEPT = b"accept: text/event-stream\r\naccept-encoding: identity\r\n"


@pytest.mark.parametrize(
    ("url", "begin"),
    [
        ("http://h", b"GET / HTTP/1.1\r\nhost: h\r\n"),
        ("http://h:81/", b"GET / HTTP/1.1\r\nhost: h:81\r\n"),
        ("https://h/a/b%20c?d=e&f", b"GET /a/b%20c?d=e&f HTTP/1.1\r\nhost: h\r\n"),
        ("http://[::1]:8/x?y", b"GET /x?y HTTP/1.1\r\nhost: [::1]:8\r\n"),
        ("http://h?d=e", b"GET /?d=e HTTP/1.1\r\nhost: h\r\n"),
    ],
)
def test_the_head_begins_with_what_the_url_says(url: str, begin: bytes) -> None:
    assert head_of(AgentTarget(url, {})) == begin + ACCEPT + b"\r\n"


@pytest.mark.parametrize(
    ("method", "body", "length"),
    [
        *(("GET", b"", None), ("DELETE", b"", None), ("POST", b"", b"0"), ("PUT", b"", b"0")),
        *(("POST", b"abc", b"3"), ("DELETE", b"abc", b"3")),
    ],
)
def test_the_length_of_a_body_is_said_where_one_is_expected(
    method: str, body: bytes, length: bytes | None
) -> None:
    head = head_of(AgentTarget("http://h/", {"x": "é"}, method, body, accept=("a/b", "c/d")))

    begin = b"%b / HTTP/1.1\r\nhost: h\r\naccept: a/b, c/d\r\n" % method.encode()
    own = b"accept-encoding: identity\r\nx: \xe9\r\n"
    said = b"" if length is None else b"content-length: %b\r\n" % length
    assert head == begin + own + said + b"\r\n"


@pytest.mark.parametrize("value", ["a\r\nb: c", "a\nb", "a\0", "\u2028", "a\x7f"])
def test_a_value_that_would_be_another_header_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="a header's value that is none"):
        RequestWriter(AgentTarget("http://h/", {"x": value}))


@pytest.mark.parametrize("size", [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_a_request_is_written_whole_and_in_order(size: int) -> None:
    body = bytes(index % 251 for index in range(size))
    target = AgentTarget("http://h/", {}, "POST", body)
    writer, wire = RequestWriter(target), MemorySocket()
    assert writer.remaining_bytes == len(head_of(target)) + size

    assert not writer.write(wire.socket)

    assert b"".join(wire.writes) == head_of(target) + body
    assert len(wire.writes) == (1 if size <= PIECE_BYTES else 1 + -(-size // PIECE_BYTES))
    assert writer.remaining_bytes == 0


def test_a_very_long_request_is_written_in_steps() -> None:
    size = (2 * PIECES_PER_STEP + 1) * PIECE_BYTES
    writer = RequestWriter(AgentTarget("http://h/", {}, "POST", b"x" * size))
    wire = MemorySocket()

    assert [writer.write(wire.socket) for _ in range(3)] == [True, True, False]
    assert sum(map(len, wire.writes[1:])) == size


def test_what_the_kernel_does_not_take_is_kept_back() -> None:
    size = 3 * PIECE_BYTES
    writer = RequestWriter(AgentTarget("http://h/", {}, "POST", b"x" * size))
    wire = MemorySocket(takes=PIECE_BYTES)

    assert not writer.write(wire.socket)
    assert wire.socket.is_write_paused
    assert writer.remaining_bytes == 2 * PIECE_BYTES
    assert not writer.write(wire.socket)
    assert writer.remaining_bytes == 2 * PIECE_BYTES

    wire.take_all()
    assert not writer.write(wire.socket)
    assert writer.remaining_bytes == 0
