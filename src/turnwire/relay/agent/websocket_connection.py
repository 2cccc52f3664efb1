"""One connection of the transport `websocket`.

`WebSocketConnection` is an `asyncio.Protocol` around a Sans-I/O reader (`websocket_reader`,
`websocket_library`). It decodes frames in the socket's own callback, all frames of one read at
once, and calls its `Listener`: no task and no queue stand between the socket and the `Turn`. If a
read brings more work than one time slice, the rest runs in later slices (`rounds`), and the socket
is not read meanwhile. No compression, no library pings.
"""

import asyncio
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from turnwire.core.bounds import LONG_BYTES
from turnwire.core.wire.census import TooManyError
from turnwire.relay.agent import websocket_fast_path, websocket_handshake, websocket_library
from turnwire.relay.agent.dialer import AgentSocket
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.port import Listener
from turnwire.relay.agent.utf8 import check_utf8, is_utf8
from turnwire.relay.agent.websocket_library import OPEN, WebSocket, accept_key, generate_key
from turnwire.relay.agent.websocket_reader import (
    BATCH,
    Controls,
    ForLibrary,
    Reader,
)
from turnwire.relay.memory_budget import Reservation
from turnwire.relay.rounds import Rounds, Slices

LINGER_S: Final = 0.5
"""Seconds for which a closed connection waits for the agent's close before it is aborted."""

_LONG_READ_BYTES: Final = 8_192
_BATCH_BYTES: Final = 65_536
"""Approximate size of short frames that are delivered together."""
_FINAL_TEXT: Final = bytes((websocket_fast_path.FINAL_TEXT,))
_MANY_FRAMES: Final = 4_096
"""A long read that may have more frames is split in pieces: the splitting alone takes time."""

_HEAD_END: Final = b"\r\n\r\n"
_NORMAL_CLOSURE: Final = (1000).to_bytes(2, "big")
"""The payload of a normal close: its code."""


class WebSocketConnection(AgentSocket):
    """One connection, from the TCP connect to its end. `url` is valid (`config` checks it)."""

    brings_frames: bool = False

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        listener: Listener,
        *,
        subprotocols: tuple[str, ...],
        frame_bytes: int,
        reservation: Reservation,
        rounds: Rounds,
    ) -> None:
        self._reservation = reservation
        self._headers = headers
        self._listener = listener
        self._url = url
        self._subprotocols = subprotocols
        self._request = websocket_library.request_template(url, self._subprotocols)
        self._key = generate_key()
        self._websocket: WebSocket | None = None
        """Made for the first input that only the library can read: few connections need it."""
        self._frame_bytes = frame_bytes
        self._reader = Reader(frame_bytes)
        self._is_plain = False
        """Whether the fast path may read: the next byte begins a message, and no work is queued."""
        self._slices = Slices(rounds)
        """The unfinished work of past reads. The socket is not read meanwhile."""
        self._unread: list[bytes] = []
        """Reads that came in while there was unfinished work."""
        self._is_lost = False
        self._controls: Controls | None = None
        self._is_open = False
        """Whether the handshake has succeeded."""
        self._is_closed = False
        """Whether the connection is over for the listener."""
        self._transport: asyncio.Transport | None = None
        self._is_paused = False
        """Whether the agent is not read because the client takes no frames."""
        self._is_write_blocked = False
        """Whether the agent is not read because it does not read our writes."""
        self._lingering: asyncio.TimerHandle | None = None

    # Calls of the stream.

    def send(self, frames: Sequence[bytes]) -> None:
        """Send text frames. `unwritten_bytes` counts what the agent does not read of them."""
        transport = self._transport
        if transport is None or transport.is_closing() or not self._may_send:
            return
        for frame in frames:
            if len(frame) <= websocket_library.PIECE_BYTES:
                transport.write(websocket_library.masked(websocket_fast_path.FINAL_TEXT, frame))
            else:
                for piece in websocket_library.masked_in_pieces(
                    websocket_fast_path.FINAL_TEXT, frame
                ):
                    transport.write(piece)

    @property
    def unwritten_bytes(self) -> int:  # that the kernel has not taken
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    @property
    def _may_send(self) -> bool:
        websocket = self._websocket
        if not self._is_open or self._is_closed:
            return False
        return websocket is None or websocket.state is OPEN

    def pause(self) -> None:
        """Stop reading until `resume`."""
        self._is_paused = True
        self._slices.set_paused(is_paused=True)
        self._update_reading()

    def resume(self) -> None:
        self._is_paused = False
        self._update_reading()
        self._slices.set_paused(is_paused=False)

    def may_open_late(self) -> bool:
        return False

    def finish(self) -> None:
        self.close()

    def close(self) -> None:
        """Send the close frame without waiting for the answer, and deliver no more frames.

        For at most `LINGER_S` the connection reads and discards what the agent sends. A socket that
        is closed over unread data is reset, and the reset may overtake the abort that was just
        written.
        """
        may_send = self._may_send
        self._is_closed = True
        if not self._is_plain or self._reservation.held_bytes:
            self._discard_input()
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if not self._is_open:
            transport.abort()
            return
        if may_send:
            transport.write(websocket_library.masked(websocket_fast_path.CLOSE, _NORMAL_CLOSURE))
        self._update_reading()
        self._lingering = asyncio.get_running_loop().call_later(LINGER_S, transport.abort)

    def abort(self) -> None:
        """Close without a close frame or a callback. The transport may be closed already."""
        self._is_closed = True
        self._discard_input()
        if self._transport is not None:
            self._transport.abort()

    # Callbacks of the transport.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, not a check: uvloop's transports are not subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        if self._is_closed:
            self._transport.abort()
            return
        self._transport.write(self._request.request(self._key, self._headers))

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        if not self._is_open and self._websocket is None:
            data = self._receive_answer(data)
            if not data:
                return
        if not self._is_plain or len(data) > _LONG_READ_BYTES:
            self._receive_long(data)
            return
        reader = self._reader
        if reader.partial:
            data = reader.partial + data
        frames, rest, is_plain = websocket_fast_path.split_text_frames(data, self._frame_bytes)
        if not is_plain or len(frames) > BATCH:
            reader.partial = b""
            self._process_in_slices(rest, frames)
            return
        reader.partial = rest
        if len(rest) != self._reservation.held_bytes and not self._reservation.set(len(rest)):
            self._deliver(frames)
            self._disconnect(DisconnectReason.NO_ROOM)
        elif all(map(bytes.isascii, frames)):
            if frames:
                self._listener.agent_frames(frames)
        else:
            self._deliver(frames)

    # The slow path, in time slices.

    def _receive_long(self, data: bytes) -> None:
        """Process a read that is long, or comes during unfinished work or within a long message."""
        if not self._is_plain or data.count(_FINAL_TEXT) > _MANY_FRAMES:
            self._process_in_slices(data)
            return
        data, self._reader.partial = self._reader.partial + data, b""
        frames, rest, _ = websocket_fast_path.split_text_frames(data, self._frame_bytes)
        self._process_in_slices(rest, frames)

    def _process_in_slices(self, data: bytes, frames: Sequence[bytes] = ()) -> None:
        """Process one slice now, and the rest in later slices."""
        if self._slices.has_work:
            self._unread.append(data)
            return
        self._is_plain = False
        self._slices.begin(self._process(data, frames))
        if self._slices.has_work:
            self._update_reading()
            # A long frame that is being delivered may have counted this data already.
            waiting = max(self._reservation.held_bytes, len(data) + self._reader.held_bytes)
            if not self._reservation.set(waiting):
                self._disconnect(DisconnectReason.NO_ROOM)

    def _process(self, data: bytes, frames: Sequence[bytes]) -> Iterator[None]:
        try:
            # The longer the frames, the fewer at a time.
            size = sum(map(len, frames))
            step = max(1, min(BATCH, len(frames) * _BATCH_BYTES // (size or 1)))
            for first in range(0, len(frames), step):
                self._deliver(frames[first : first + step])
                yield
            yield from self._parse(data)
            while self._unread:
                yield from self._parse(self._unread.pop(0))
        except Exception:  # else the connection would stay open for ever
            self._slices.drop()
            if self._is_lost:
                self._end_input()
            elif self._transport is not None:
                self._transport.abort()
            raise
        self._slices.drop()
        self._is_plain = self._is_open and self._reader.is_between_messages
        self._update_reading()
        if self._is_lost:
            self._end_input()

    def _parse(self, data: bytes) -> Iterator[None]:
        if not self._is_open:
            data = self._parse_answer(data)
        reader = self._reader
        for item in reader.read(data):
            if isinstance(item, list):
                if len(item) == 1 and len(item[0]) > LONG_BYTES:
                    yield from self._deliver_long(item.pop())  # keeps no reference
                elif item:
                    self._deliver(item)
            elif isinstance(item, ForLibrary):
                why = self._pass_to_library(item)
                if why is not None:
                    self._disconnect(why)
            else:
                self._disconnect(item)
            if self._is_closed:
                return
            yield
        if not self._reservation.set(reader.held_bytes):
            self._disconnect(DisconnectReason.NO_ROOM)
        elif reader.held_bytes > LONG_BYTES:
            self._listener.agent_frame_begun()

    def _deliver(self, frames: Sequence[bytes]) -> None:
        """Deliver short frames, up to the first one with invalid UTF-8."""
        if all(map(bytes.isascii, frames)):
            self._listener.agent_frames(frames)
            return
        valid = list(itertools.takewhile(is_utf8, frames))
        if valid:
            self._listener.agent_frames(valid)
        if len(valid) < len(frames):
            self._disconnect(DisconnectReason.NOT_UTF8)

    def _deliver_long(self, frame: bytes) -> Iterator[None]:
        if not self._reservation.set(len(frame)):
            self._disconnect(DisconnectReason.NO_ROOM)
            return
        try:
            if not frame.isascii():
                yield from check_utf8(frame)
            yield from self._listener.agent_long_frame(frame)
        except UnicodeDecodeError:
            self._disconnect(DisconnectReason.NOT_UTF8)
        except TooManyError:
            self._disconnect(DisconnectReason.UNSOUND)

    def _receive_answer(self, data: bytes) -> bytes:
        """Read the handshake response by the fast path. Return the data that is not consumed."""
        head_bytes = websocket_handshake.accepted_head_length(
            data, accept_key(self._key), self._subprotocols
        )
        if head_bytes:
            self._is_plain = True
            self._finish_handshake()
            return b"" if self._is_closed else data[head_bytes:]
        self._websocket = websocket_library.new_client(self._url, self._subprotocols, self._key)
        return data

    def _parse_answer(self, data: bytes) -> bytes:
        """Pass a response to the library. Return the data after the head, if it accepts."""
        client = self._websocket
        assert client is not None
        earlier, self._reader.partial = self._reader.partial, b""
        end = (earlier + data).find(_HEAD_END)
        head = data if end < 0 else data[: end + len(_HEAD_END) - len(earlier)]
        client.receive_data(head)
        if end < 0:
            self._reader.partial = (earlier + data)[1 - len(_HEAD_END) :]
        if client.events_received() and client.handshake_exc is None:
            self._finish_handshake()
            return b"" if self._is_closed else data[len(head) :]
        if end >= 0:
            client.receive_data(data[len(head) :])
        self._flush(client)
        if client.handshake_exc is not None:
            self._fail(*websocket_library.dial_failure(client.handshake_exc))
        return b""

    def _finish_handshake(self) -> None:
        self._is_open = True
        self._listener.agent_opened(self)

    def _pass_to_library(self, item: ForLibrary) -> DisconnectReason | None:
        """Pass the item to the library. Return why the connection must end; None: it goes on."""
        if self._controls is None:
            self._controls = Controls()
        if not self._controls.take(asyncio.get_running_loop().time()):
            return DisconnectReason.UNSOUND
        websocket = self._websocket
        if websocket is None:
            self._websocket = websocket = websocket_library.new_websocket()
        has_closed = websocket_library.receive_control(websocket, item.data)
        self._flush(websocket)
        if has_closed:
            return DisconnectReason.CLOSED
        return websocket_library.disconnect_reason(websocket) or (
            None if item.is_valid else DisconnectReason.BROKEN
        )

    def pause_writing(self) -> None:
        """The agent does not read. Stop reading its pings: our pongs would pile up."""
        self._is_write_blocked = True
        self._update_reading()

    def resume_writing(self) -> None:
        self._is_write_blocked = False
        self._update_reading()

    def _update_reading(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if not self._is_closed and (
            self._is_paused or self._is_write_blocked or self._slices.has_work
        ):
            transport.pause_reading()
        else:
            transport.resume_reading()

    def eof_received(self) -> None:
        # On an open connection the library gets only control frames, and some may still be queued.
        if not self._is_closed and not self._is_open and self._websocket is not None:
            self._websocket.receive_eof()

    def connection_lost(self, _exc: Exception | None) -> None:
        if self._lingering is not None:  # the timer would keep this object alive
            self._lingering.cancel()
        self._is_lost = True
        if self._is_closed:
            self._break_cycles()
        elif not self._slices.has_work:
            self._end_input()

    def _end_input(self) -> None:
        """The connection is lost, and all received data was processed."""
        self._disconnect(DisconnectReason.LINE_LOST)
        self._break_cycles()

    def _break_cycles(self) -> None:
        if self._websocket is not None:
            websocket_library.break_cycles(self._websocket)

    def _fail(self, why: DialFailure, status: int | None = None) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._discard_input()
            self._listener.agent_refused(why, status, None)
            if self._transport is not None:
                self._transport.abort()

    def _disconnect(self, why: DisconnectReason) -> None:
        if not self._is_open:
            self._fail(DialFailure.HANDSHAKE)
        elif not self._is_closed:
            self.close()
            self._listener.agent_left(why, websocket_library.close_code(self._websocket))

    def _discard_input(self) -> None:
        """Discard all received data, and release its memory."""
        self._reader.discard()
        self._unread.clear()
        self._slices.drop()
        self._reservation.set(0)

    def _flush(self, websocket: WebSocket) -> None:
        transport = self._transport
        for data in websocket.data_to_send():
            if transport is not None and not transport.is_closing() and data:
                transport.write(data)
