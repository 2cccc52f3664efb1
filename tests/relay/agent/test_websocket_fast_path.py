"""The short lane of the WebSocket cuts what the library would, and leaves all else to it."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from support.dialled import Counting
from turnwire.core.bounds import LONG_BYTES
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.websocket_connection import WebSocketConnection
from turnwire.relay.agent.websocket_fast_path import split_text_frames
from turnwire.relay.memory_budget import Budget
from turnwire.relay.rounds import Rounds

LONGEST = 70_000
URL = "ws://127.0.0.1/"

SIZES = [0, 1, 2, 125, 126, 127, 200, 65_535, 65_536, LONGEST, LONGEST + 1]


def head(first: int, size: int, mask: bool) -> bytes:  # noqa: FBT001 (a bit of the frame)
    bit = 0x80 if mask else 0
    if size < 126:
        return bytes([first, size | bit])
    if size < 65_536:
        return bytes([first, 126 | bit]) + size.to_bytes(2, "big")
    return bytes([first, 127 | bit]) + size.to_bytes(8, "big")


def plain(size: int) -> bytes:
    return head(0x81, size, mask=False) + b"x" * size


PLAIN = st.one_of(st.sampled_from(SIZES), st.integers(0, 300)).map(plain)
OTHER = st.one_of(
    st.sampled_from(
        [
            head(0x01, 2, mask=False) + b"aa",  # the first of several
            head(0x80, 2, mask=False) + b"bb",  # the last of them
            head(0x89, 3, mask=False) + b"hey",  # a ping
            head(0x8A, 0, mask=False),
            head(0x82, 4, mask=False) + b"\0\1\2\3",
            head(0x88, 2, mask=False) + b"\x03\xe8",  # the end
            head(0x81, 3, mask=True) + b"maskabc",
            head(0xC1, 1, mask=False) + b"r",  # an extension nobody agreed on
            head(0x81, 2, mask=False) + b"\xc3\x28",  # no UTF-8
            bytes([0x81, 126, 0, 3]) + b"abc",  # a length longer than it need be
            bytes([0x81]),
        ]
    ),
    st.binary(max_size=6),
)
STREAMS = st.lists(st.one_of(PLAIN, PLAIN, PLAIN, OTHER), max_size=8).map(b"".join)


class Heard(Counting):
    """What a listener is told."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[bytes] = []
        self.ends: list[str] = []

    def agent_refused(self, why: DialFailure, status: int | None) -> None:
        self.ends.append(f"{why} {status}")

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        self.frames += frames

    def agent_long_frame(self, frame: bytes) -> Iterator[None]:
        assert len(frame) > LONG_BYTES
        yield
        self.frames.append(frame)

    def agent_left(self, why: DisconnectReason, code: int | None) -> None:
        self.ends.append(f"{why.value} {code}")


class Wire(asyncio.Transport):
    """What an upstream wrote, and whether it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self.reads = True
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.closing

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True


def connected(wire: Wire | None = None) -> tuple[WebSocketConnection, Heard, Budget]:
    """An upstream past its handshake."""
    heard, wire, budget = Heard(), wire or Wire(), Budget()
    upstream = WebSocketConnection(
        URL,
        {},
        heard,
        subprotocols=(),
        frame_bytes=LONGEST,
        reservation=budget.holder("u1").reserve(),
        rounds=Rounds(),
    )
    upstream.connection_made(wire)
    server = ServerProtocol()
    server.receive_data(bytes(wire.written))
    (request,) = server.events_received()
    assert isinstance(request, Request)
    server.send_response(server.accept(request))
    upstream.data_received(b"".join(server.data_to_send()))
    return upstream, heard, budget


async def settled(upstream: WebSocketConnection) -> None:
    """Wait until all that was read is heard."""
    while upstream._slices.has_work:  # noqa: ASYNC110 (rounds of the loop are what it waits for)
        await asyncio.sleep(0)


def by_the_library(data: bytes) -> tuple[list[bytes], bool]:
    """The messages that the library alone reads, and whether the connection is of use after it."""
    library = ClientProtocol(parse_uri(URL), max_size=LONGEST)
    wire = ServerProtocol()
    library.send_request(library.connect())
    wire.receive_data(b"".join(library.data_to_send()))
    (request,) = wire.events_received()
    assert isinstance(request, Request)
    wire.send_response(wire.accept(request))
    library.receive_data(b"".join(wire.data_to_send()))
    library.events_received()
    library.receive_data(data)
    return messages(library), library.parser_exc is None


def messages(library: ClientProtocol) -> list[bytes]:
    """Up to the first frame that is neither text nor a ping."""
    found: list[bytes] = []
    parts = bytearray()
    for event in library.events_received():
        assert isinstance(event, Frame)
        match event.opcode:
            case Opcode.PING | Opcode.PONG:
                continue
            case Opcode.TEXT | Opcode.CONT:
                parts += event.data
                if event.fin:
                    found.append(bytes(parts))
                    parts.clear()
            case _:
                break
    return found


def reads(data: bytes, cuts: Sequence[int]) -> Iterator[bytes]:
    """The same bytes in other reads."""
    places = sorted({0, len(data), *(at % (len(data) + 1) for at in cuts)})
    yield from (data[a:b] for a, b in itertools.pairwise(places))


@settings(max_examples=150, deadline=None, database=None)
@given(data=STREAMS, cuts=st.lists(st.integers(0, 200_000), max_size=6))
async def test_both_lanes_hear_the_same_however_the_reads_fall(
    data: bytes, cuts: list[int]
) -> None:
    upstream, heard, budget = connected()

    for read in reads(data, cuts):
        upstream.data_received(read)
        await settled(upstream)

    expected, sound = by_the_library(data)
    told = []
    for frame in expected:
        if not is_utf8(frame):
            break
        told.append(frame)
    assert heard.frames == told
    if not sound or len(told) < len(expected):
        assert len(heard.ends) == 1
        assert budget.held_bytes == 0


def is_utf8(frame: bytes) -> bool:
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.parametrize("at", range(1, 14))
async def test_a_long_frame_is_the_librarys_wherever_its_head_is_cut(at: int) -> None:
    upstream, heard, _ = connected()
    text = plain(3) * 14_000  # which would be frames, if it were taken for what it is not
    text = bytes(byte & 0x7F for byte in text[:65_536]) + b"x" * 100
    frame = head(0x81, len(text), mask=False) + text

    upstream.data_received(frame[:at])
    upstream.data_received(frame[at:] + plain(3))
    await settled(upstream)

    assert heard.frames == [text, b"xxx"]
    assert not heard.ends


async def test_what_looks_like_frames_inside_a_long_one_is_none() -> None:
    upstream, heard, budget = connected()
    inside = head(0x81, 65_536, mask=False)

    upstream.data_received(inside)
    upstream.data_received(plain(3))

    assert heard.frames == []
    assert budget.held_bytes == 5


async def test_a_message_within_another_ends_the_connection() -> None:
    upstream, heard, _ = connected()

    upstream.data_received(head(0x01, 2, mask=False) + b"aa")
    upstream.data_received(plain(3))

    assert heard.frames == []
    assert heard.ends == ["broken None"]


async def test_a_frame_that_is_not_whole_is_held_and_counted() -> None:
    upstream, heard, budget = connected()
    whole = plain(60_000)

    for at in range(0, len(whole), 10_000):
        upstream.data_received(whole[at : at + 10_000])
        assert budget.held_bytes == (at + 10_000 if at + 10_000 < len(whole) else 0)

    assert heard.frames == [b"x" * 60_000]


async def test_what_is_held_is_let_go_at_the_end() -> None:
    upstream, _, budget = connected()
    upstream.data_received(plain(100)[:50])

    upstream.close()

    assert budget.held_bytes == 0
    assert not upstream._reader.partial


def test_the_short_lane_is_taken() -> None:
    data = plain(3) + plain(200) + plain(10)[:5]

    texts, rest, is_begun = split_text_frames(data, LONGEST)

    assert texts == [b"xxx", b"x" * 200]
    assert (rest, is_begun) == (plain(10)[:5], True)
    assert split_text_frames(plain(3) + b"\x89\x00" + plain(3), LONGEST) == (
        [b"xxx"],
        b"\x89\x00" + plain(3),
        False,
    )
    assert split_text_frames(plain(300), 299) == ([], plain(300), False)


def test_it_is_read_while_nobody_objects() -> None:
    wire = Wire()
    upstream, _, _ = connected(wire)
    upstream.resume()  # of a client that was cut, blocked or not
    upstream.pause()
    assert not wire.reads
    upstream.pause_writing()
    upstream.resume()
    upstream.resume()
    assert not wire.reads
    upstream.pause()
    upstream.resume_writing()
    assert not wire.reads
    upstream.resume()
    assert wire.reads


async def test_what_comes_behind_a_goodbye_is_read_whoever_objected() -> None:
    wire = Wire()
    upstream, _, _ = connected(wire)
    upstream.pause()
    upstream.pause_writing()
    upstream.close()
    assert wire.reads
    upstream.resume_writing()

    assert wire.reads


@pytest.mark.parametrize("size", [*SIZES, 1_000_000])
async def test_what_we_send_is_a_frame_of_the_librarys(size: int) -> None:
    wire = Wire()
    upstream, _, _ = connected(wire)
    request = bytes(wire.written)
    text = (b"ab\0\x7f" + b"x" * size)[:size]

    upstream.send([text, b"next"])
    upstream.close()

    server = ServerProtocol(max_size=None)
    server.receive_data(request)
    (asked,) = server.events_received()
    assert isinstance(asked, Request)
    server.send_response(server.accept(asked))
    sent = bytes(wire.written)[len(request) :]
    server.receive_data(sent)
    heard = [event for event in server.events_received() if isinstance(event, Frame)]
    assert [(frame.opcode, bytes(frame.data)) for frame in heard] == [
        (Opcode.TEXT, text),
        (Opcode.TEXT, b"next"),
        (Opcode.CLOSE, b"\x03\xe8"),
    ]
    assert server.parser_exc is None
    ours = Frame(Opcode.TEXT, text).serialize(mask=True)
    assert sent[: len(ours) - size - 4] == ours[: len(ours) - size - 4]  # but for mask and text


async def test_two_frames_have_two_masks() -> None:
    wire = Wire()
    upstream, _, _ = connected(wire)
    before = len(wire.written)
    upstream.send([b"aaaa", b"aaaa"])

    sent = bytes(wire.written)[before:]
    assert sent[:10] != sent[10:]


@pytest.mark.parametrize("said", [b"", head(0x88, 2, mask=False) + b"\x03\xe8"])
async def test_nothing_is_sent_behind_a_goodbye(said: bytes) -> None:
    wire = Wire()
    upstream, _, _ = connected(wire)
    wire.written.clear()
    upstream.data_received(said)
    upstream.close()
    upstream.send([b"late"])

    assert wire.written[:2] == b"\x88\x82"  # one goodbye, masked, that has a code
    assert len(wire.written) == 8


async def test_nothing_is_sent_on_a_connection_that_closes() -> None:
    wire = Wire()
    upstream, _, _ = connected(wire)
    wire.written.clear()
    wire.closing = True
    upstream.send([b"late"])
    upstream.close()

    assert wire.written == b""


async def test_what_was_read_is_heard_though_the_agent_has_said_all() -> None:
    """The end of the line may come while there is work left, with pings in it."""
    upstream, heard, _ = connected()
    ping = head(0x89, 1, mask=False) + b"p"
    upstream.data_received(ping)

    upstream.data_received((plain(3) + ping) * 300)
    upstream.eof_received()
    upstream.connection_lost(None)
    await settled(upstream)

    assert heard.frames == [b"xxx"] * 300
    assert heard.ends == ["line_lost None"]


async def test_a_step_that_raises_ends_the_connection_all_the_same() -> None:
    upstream, heard, _ = connected()

    class BugError(Exception): ...

    def broken(_: Sequence[bytes]) -> None:
        raise BugError

    vars(heard)["agent_frames"] = broken
    upstream._is_lost = True
    with pytest.raises(BugError):
        upstream._process_in_slices(b"", [b"x"])

    assert heard.ends == ["line_lost None"]
