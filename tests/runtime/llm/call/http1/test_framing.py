"""Where bodies end. `h11`, which reads the same bytes, is the witness."""

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from turnwire_agent.llm.call.http1.framing import (
    LINE_BYTES_MAX,
    Chunked,
    Endless,
    FramingError,
    Sized,
    framing_of,
)

PIECES = st.lists(st.integers(1, 40), max_size=12)
"""After how many bytes the next read begins."""
CHUNKS = st.lists(st.binary(min_size=1, max_size=40), max_size=6)
SIZES = st.sampled_from([b"%x", b"%X", b"0%x", b"%x;name=value", b'%x;a="b" ', b"%x \t"])


def cut(data: bytes, pieces: list[int]) -> list[bytes]:
    """The same bytes as they may be read."""
    reads = []
    for size in pieces:
        reads.append(data[:size])
        data = data[size:]
    return [read for read in (*reads, data) if read]


def read(framing: Chunked | Sized | Endless, reads: list[bytes]) -> bytes:
    """What a connection makes of them: nothing is fed behind the end."""
    body = b""
    for each in reads:
        if framing.is_complete:
            framing.is_exact = False
            break
        body += framing.feed(each)
    return body


def witness(reads: list[bytes]) -> bytes | None:
    """What `h11` reads from a chunked body; None: it refuses it."""
    http = h11.Connection(h11.CLIENT)
    http.send(h11.Request(method="GET", target="/", headers=[("host", "x")]))
    http.send(h11.EndOfMessage())
    http.receive_data(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    body = b""
    try:
        for each in (*reads, None):
            if each is not None:
                http.receive_data(each)
            while True:
                event = http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    break
                if isinstance(event, h11.Data):
                    body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    return body
    except h11.RemoteProtocolError:
        return None
    return None


def ours(reads: list[bytes]) -> bytes | None:
    framing = Chunked()
    try:
        body = read(framing, reads)
        if not framing.is_complete:
            framing.end()
    except FramingError:
        return None
    return body


@given(CHUNKS, SIZES, st.sampled_from([b"", b"x: y\r\n", b"a: b\r\nc: d\r\n"]), PIECES)
def test_chunks_are_read_however_they_come(
    chunks: list[bytes], size: bytes, trailer: bytes, pieces: list[int]
) -> None:
    sent = b"".join(size % len(chunk) + b"\r\n" + chunk + b"\r\n" for chunk in chunks)
    reads = cut(sent + b"0\r\n" + trailer + b"\r\n", pieces)
    framing = Chunked()

    assert read(framing, reads) == b"".join(chunks) == witness(reads)
    assert framing.is_complete
    assert framing.is_exact


@given(CHUNKS, st.binary(max_size=6), st.integers(0, 60), st.integers(0, 3), PIECES)
@example([b"ab"], b"\n", 3, 0, [])
@example([b"ab"], b"", 5, 1, [])
@example([b"ab"], b"g", 0, 0, [1])
def test_what_is_broken_is_refused_as_by_the_library(
    chunks: list[bytes], noise: bytes, at: int, lost: int, pieces: list[int]
) -> None:
    sent = b"".join(b"%x\r\n" % len(chunk) + chunk + b"\r\n" for chunk in chunks) + b"0\r\n\r\n"
    reads = cut(sent[:at] + noise + sent[at + lost :], pieces)

    body = ours(reads)
    expected = witness(reads)

    # A line of a trailer that is no header is dropped here, and refused by the library.
    assert body == expected or (expected is None and body is not None and at > len(sent) - 5)


def test_what_is_behind_a_body_is_seen() -> None:
    chunked, sized = Chunked(), Sized(3)

    assert chunked.feed(b"1\r\nx\r\n0\r\n\r\nHTTP/1.1 200 OK") == b"x"
    assert sized.feed(b"abcd") == b"abc"
    assert chunked.is_complete
    assert sized.is_complete
    assert not chunked.is_exact
    assert not sized.is_exact


def test_a_body_of_a_size_ends_with_its_last_byte() -> None:
    framing = Sized(4)

    assert framing.feed(b"ab") == b"ab"
    assert not framing.is_complete
    assert framing.feed(b"cd") == b"cd"
    assert framing.is_complete
    assert framing.is_exact
    framing.end()
    assert not framing.is_exact


@pytest.mark.parametrize("framing", [Sized(4), Chunked()])
def test_a_body_that_is_cut_short_is_refused(framing: Sized | Chunked) -> None:
    framing.feed(b"2\r\n")

    with pytest.raises(FramingError, match="cut short"):
        framing.end()


def test_a_body_without_an_end_ends_with_its_connection() -> None:
    framing = Endless()

    assert framing.feed(b"ab") == b"ab"
    assert not framing.is_complete
    framing.end()
    assert framing.is_complete
    assert not framing.is_exact


@pytest.mark.parametrize(
    "sent",
    [
        b"1;" + b"x" * (LINE_BYTES_MAX + 1),
        b"0\r\n" + b"a: b\r\n" * (LINE_BYTES_MAX // 4 + 1),
        b"1\r\nxyz",
        b"1\r\nxy\r\n",
        b"1\r\nx\n",
        b"\r\n",
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b"1_0\r\n",
        b"1" * 16 + b"\r\n",
        b"5 5\r\n",
    ],
)
def test_bytes_that_are_no_chunks_are_refused(sent: bytes) -> None:
    with pytest.raises(FramingError):
        Chunked().feed(sent)


@pytest.mark.parametrize(
    ("method", "status", "headers", "kind"),
    [
        (b"POST", 200, [(b"transfer-encoding", b"chunked")], Chunked),
        (b"POST", 200, [(b"content-length", b"5")], Sized),
        (b"POST", 200, [(b"transfer-encoding", b"chunked"), (b"content-length", b"5")], Chunked),
        (b"POST", 200, [], Endless),
        (b"HEAD", 200, [(b"content-length", b"5")], Sized),
        (b"GET", 204, [], Sized),
        (b"GET", 304, [(b"content-length", b"5")], Sized),
    ],
)
def test_the_head_says_how_the_body_ends(
    method: bytes, status: int, headers: list[tuple[bytes, bytes]], kind: type
) -> None:
    framing = framing_of(method, status, headers)

    assert isinstance(framing, kind)
    assert framing.is_complete is (method == b"HEAD" or status != 200)
