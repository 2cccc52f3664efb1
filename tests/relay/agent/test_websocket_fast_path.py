"""The short lane of the WebSocket cuts what the library would, and leaves all else to it."""

import itertools
from collections.abc import Iterator, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.uri import parse_uri

from support.open_websocket import LONGEST, SIZES, URL, connected, head, plain, settled
from turnwire.relay.agent.websocket_fast_path import split_text_frames

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
    upstream, listener, budget = connected()

    for read in reads(data, cuts):
        upstream.data_received(read)
        await settled(upstream)

    expected, sound = by_the_library(data)
    valid = []
    for frame in expected:
        if not is_utf8(frame):
            break
        valid.append(frame)
    assert listener.frames == valid
    if not sound or len(valid) < len(expected):
        assert len(listener.ends) == 1
        assert budget.held_bytes == 0


def is_utf8(frame: bytes) -> bool:
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True


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
