"""One connection: what it delivers, what it sends, when it is read, and how it ends."""

from collections.abc import Sequence

import pytest
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from support.open_websocket import (
    SIZES,
    MemoryTransport,
    connected,
    head,
    plain,
    settled,
)


@pytest.mark.parametrize("at", range(1, 14))
async def test_a_long_frame_is_the_librarys_wherever_its_head_is_cut(at: int) -> None:
    upstream, listener, _ = connected()
    text = plain(3) * 14_000  # which would be frames, if it were taken for what it is not
    text = bytes(byte & 0x7F for byte in text[:65_536]) + b"x" * 100
    frame = head(0x81, len(text), mask=False) + text

    upstream.data_received(frame[:at])
    upstream.data_received(frame[at:] + plain(3))
    await settled(upstream)

    assert listener.frames == [text, b"xxx"]
    assert not listener.ends


async def test_what_looks_like_frames_inside_a_long_one_is_none() -> None:
    upstream, listener, budget = connected()
    inside = head(0x81, 65_536, mask=False)

    upstream.data_received(inside)
    upstream.data_received(plain(3))

    assert listener.frames == []
    assert budget.held_bytes == 5


async def test_a_message_within_another_ends_the_connection() -> None:
    upstream, listener, _ = connected()

    upstream.data_received(head(0x01, 2, mask=False) + b"aa")
    upstream.data_received(plain(3))

    assert listener.frames == []
    assert listener.ends == ["broken None"]


async def test_a_frame_that_is_not_whole_is_held_and_counted() -> None:
    upstream, listener, budget = connected()
    whole = plain(60_000)

    for at in range(0, len(whole), 10_000):
        upstream.data_received(whole[at : at + 10_000])
        assert budget.held_bytes == (at + 10_000 if at + 10_000 < len(whole) else 0)

    assert listener.frames == [b"x" * 60_000]


async def test_what_is_held_is_let_go_at_the_end() -> None:
    upstream, _, budget = connected()
    upstream.data_received(plain(100)[:50])

    upstream.close()

    assert budget.held_bytes == 0
    assert not upstream._reader.partial


def test_it_is_read_while_nobody_objects() -> None:
    wire = MemoryTransport()
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
    wire = MemoryTransport()
    upstream, _, _ = connected(wire)
    upstream.pause()
    upstream.pause_writing()
    upstream.close()
    assert wire.reads
    upstream.resume_writing()

    assert wire.reads


@pytest.mark.parametrize("size", [*SIZES, 1_000_000])
async def test_what_we_send_is_a_frame_of_the_librarys(size: int) -> None:
    wire = MemoryTransport()
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
    frames = [event for event in server.events_received() if isinstance(event, Frame)]
    assert [(frame.opcode, bytes(frame.data)) for frame in frames] == [
        (Opcode.TEXT, text),
        (Opcode.TEXT, b"next"),
        (Opcode.CLOSE, b"\x03\xe8"),
    ]
    assert server.parser_exc is None
    ours = Frame(Opcode.TEXT, text).serialize(mask=True)
    assert sent[: len(ours) - size - 4] == ours[: len(ours) - size - 4]  # but for mask and text


async def test_two_frames_have_two_masks() -> None:
    wire = MemoryTransport()
    upstream, _, _ = connected(wire)
    before = len(wire.written)
    upstream.send([b"aaaa", b"aaaa"])

    sent = bytes(wire.written)[before:]
    assert sent[:10] != sent[10:]


@pytest.mark.parametrize("data", [b"", head(0x88, 2, mask=False) + b"\x03\xe8"])
async def test_nothing_is_sent_behind_a_goodbye(data: bytes) -> None:
    wire = MemoryTransport()
    upstream, _, _ = connected(wire)
    wire.written.clear()
    upstream.data_received(data)
    upstream.close()
    upstream.send([b"late"])

    assert wire.written[:2] == b"\x88\x82"  # one goodbye, masked, that has a code
    assert len(wire.written) == 8


async def test_nothing_is_sent_on_a_connection_that_closes() -> None:
    wire = MemoryTransport()
    upstream, _, _ = connected(wire)
    wire.written.clear()
    wire.closing = True
    upstream.send([b"late"])
    upstream.close()

    assert wire.written == b""


async def test_what_was_read_is_heard_though_the_agent_has_said_all() -> None:
    """The end of the line may come while there is work left, with pings in it."""
    upstream, listener, _ = connected()
    ping = head(0x89, 1, mask=False) + b"p"
    upstream.data_received(ping)

    upstream.data_received((plain(3) + ping) * 300)
    upstream.eof_received()
    upstream.connection_lost(None)
    await settled(upstream)

    assert listener.frames == [b"xxx"] * 300
    assert listener.ends == ["line_lost None"]


async def test_a_step_that_raises_ends_the_connection_all_the_same() -> None:
    upstream, listener, _ = connected()

    class BugError(Exception): ...

    def broken(_: Sequence[bytes]) -> None:
        raise BugError

    vars(listener)["agent_frames"] = broken
    upstream._is_lost = True
    with pytest.raises(BugError):
        upstream._process_in_slices(b"", [b"x"])

    assert listener.ends == ["line_lost None"]


class ClosedTransport(MemoryTransport):
    """As uvloop's is that was closed with its dial: nothing may be written to it."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self.closing:
            raise RuntimeError("unable to perform operation; the handler is closed")
        super().write(data)

    def is_closing(self) -> bool:
        return False

    def abort(self) -> None: ...


def test_nothing_is_said_on_a_connection_that_is_closed_with_its_dial() -> None:
    wire = ClosedTransport()
    upstream, _, _ = connected(wire)
    wire.closing = True

    upstream.abort()
