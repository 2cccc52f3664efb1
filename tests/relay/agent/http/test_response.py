"""What a response to one request says, whatever reads it comes in."""

import itertools
import math
from collections import deque

import pytest

from turnwire.relay.agent.http.response import (
    FIELDS_MAX,
    HEAD_BYTES_MAX,
    BrokenResponseError,
    ResponseReader,
)

SIZED = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\n"
UNSIZED = b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n\r\nabc"


def read(response: bytes, step: int | None = None) -> tuple[ResponseReader, bytes]:
    reader = ResponseReader()
    step = step or len(response)
    pieces = [response[first : first + step] for first in range(0, len(response), step)]
    return reader, b"".join(map(reader.read, pieces))


@pytest.mark.parametrize("step", [None, 1, 7])
@pytest.mark.parametrize(
    ("response", "is_reusable"),
    [
        (SIZED, True),
        (CHUNKED + b"\r\n", True),
        (CHUNKED + b"trailer: ignored\r\n\r\n", True),
        (SIZED.replace(b"content", b"connection: close\r\ncontent"), False),
        (SIZED.replace(b"1.1", b"1.0"), False),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nlink: x\r\n\r\n" + SIZED, True),
    ],
)
def test_a_response_that_says_where_it_ends(
    response: bytes, step: int | None, *, is_reusable: bool
) -> None:
    reader, body = read(response, step)

    assert reader.head is not None
    assert (reader.head.status, body) == (200, b"abc")
    assert "link" not in reader.head.headers
    assert "trailer" not in reader.head.headers
    assert (reader.is_complete, reader.is_reusable) == (True, is_reusable)
    reader.connection_closed()  # changes nothing


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_a_body(status: int) -> None:
    reader, body = read(b"HTTP/1.1 %d None\r\n\r\n" % status)

    assert (body, reader.is_complete, reader.is_reusable) == (b"", True, True)


def test_the_close_ends_a_response_that_does_not_say_where_it_ends() -> None:
    reader, body = read(UNSIZED)
    assert (body, reader.is_complete) == (b"abc", False)

    reader.connection_closed()

    assert (reader.is_complete, reader.is_reusable) == (True, False)


@pytest.mark.parametrize("response", [SIZED[:-1], CHUNKED, UNSIZED[:40], b"", SIZED[:20]])
def test_a_response_that_is_cut_short(response: bytes) -> None:
    reader, _ = read(response) if response else (ResponseReader(), b"")

    with pytest.raises(BrokenResponseError):
        reader.connection_closed()
    assert not reader.is_complete


def test_the_head() -> None:
    reader, _ = read(
        b"HTTP/1.1 429 Many\r\nRetry-After: 7\r\nVary: a\r\nvary: b\r\nx: \xe9\r\n\r\n"
    )

    assert reader.head is not None
    assert reader.head.status == 429
    assert reader.head.headers == {"retry-after": "7", "vary": "a, b", "x": "é"}
    assert reader.head.content_type == ""
    assert read(UNSIZED)[0].head is not None
    assert getattr(read(UNSIZED)[0].head, "content_type", "") == "text/event-stream"


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        (b"", math.inf),
        (b"Keep-Alive: timeout=5\r\n", 5),
        (b"Keep-Alive: timeout=5, max=100\r\n", 5),
        (b"keep-alive: max=100,  Timeout = 75\r\n", 75),
        (b"Keep-Alive: max=3\r\nKeep-Alive: timeout=2\r\n", 2),
        (b"Keep-Alive: timeout=5, max=0\r\n", 0),
        (b"Keep-Alive: timeout=0\r\n", 0),
        (b"Keep-Alive: timeout=-5, x\r\n", math.inf),
        (b"Keep-Alive: timeout=\xb2\r\n", math.inf),
        (b"Keep-Alive: timeout=%b\r\n" % (b"9" * 5_000), math.inf),
    ],
    ids=range(10),
)
def test_for_how_long_the_server_keeps_the_connection(fields: bytes, seconds: float) -> None:
    reader, _ = read(SIZED.replace(b"content", fields + b"content"))

    assert reader.head is not None
    assert reader.head.keep_alive_s == seconds


@pytest.mark.parametrize(
    "response",
    [
        b"HTTP/2 200 OK\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\ncontent-length: 0\n\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        SIZED + SIZED,
        SIZED + b"more",
    ],
)
@pytest.mark.parametrize("step", [None, 1])
def test_what_is_no_response_to_our_request(response: bytes, step: int | None) -> None:
    with pytest.raises(BrokenResponseError):
        read(response, step)


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nx: ", b"HTTP/1.1 103 Hints\r\n\r\n"])
def test_a_head_has_a_bound(begin: bytes) -> None:
    reader = ResponseReader()
    more = b"y" * 1_000 if begin.endswith(b": ") else begin
    reader.read(begin)

    pieces = itertools.repeat(more, HEAD_BYTES_MAX // len(more) + 1)

    with pytest.raises(BrokenResponseError):
        deque(map(reader.read, pieces), maxlen=0)


def test_a_long_body_behind_a_short_head_is_no_long_head() -> None:
    body = b"x" * 2 * HEAD_BYTES_MAX

    reader, received = read(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    assert reader.is_complete
    assert received == body


@pytest.mark.parametrize("is_trailer", [False, True])
def test_the_fields_have_a_bound(*, is_trailer: bool) -> None:
    begin = CHUNKED if is_trailer else b"HTTP/1.1 200 OK\r\n"
    reader, _ = read(begin + b"x: y\r\n" * FIELDS_MAX)

    with pytest.raises(BrokenResponseError):
        reader.read(b"x: y\r\n" * 2)


@pytest.mark.parametrize("data", [b"x", b"x: " + b"y" * 1_000 + b"\r\n"])
def test_a_trailer_has_a_bound(data: bytes) -> None:
    reader, _ = read(CHUNKED)

    with pytest.raises(BrokenResponseError):
        deque(map(reader.read, itertools.repeat(data, HEAD_BYTES_MAX + 1)), maxlen=0)


def test_what_comes_before_the_problem_in_the_same_bytes_is_kept() -> None:
    reader = ResponseReader()
    with pytest.raises(BrokenResponseError) as problem:
        reader.read(CHUNKED.replace(b"0\r\n", b"zz"))
    assert problem.value.body == b"abc"

    reader = ResponseReader()
    with pytest.raises(BrokenResponseError) as problem:
        reader.read(SIZED + b"more")
    assert (problem.value.body, reader.is_complete, reader.is_reusable) == (b"abc", True, False)


def test_a_reader_is_untouched_until_a_byte_came() -> None:
    reader = ResponseReader()
    assert reader.is_untouched

    reader.read(b"H")

    assert not reader.is_untouched
