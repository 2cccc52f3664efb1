"""One WebSocket to the agent.

A Sans-I/O reader (`reading`, `library`) inside an `asyncio.Protocol`: frames are taken
in the socket's own callback, all of one read at once, without a task or a
queue between the socket and the `Turn`. Where a read brings more work than a slice
of time, the rest goes on after the others, and nothing is read meanwhile (`rounds`).
No compression, no library pings, one dial, no redirect.
"""

import asyncio
import codecs
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol, cast

from turnwire.core.bounds import LONG_BYTES
from turnwire.core.census import TooManyError
from turnwire.relay import handshake, library, plain
from turnwire.relay.budget import Hold
from turnwire.relay.leaving import DialFailure, Leaving
from turnwire.relay.library import OPEN, WebSocket, accept_key, generate_key
from turnwire.relay.reading import BATCH, Controls, ForLibrary, Reader
from turnwire.relay.rounds import Rounds, Slices

LINGER_S: Final = 0.5
"""How long a closed connection waits for the agent's side before it is cut."""

_MUCH_BYTES: Final = 8_192
_BATCH_BYTES: Final = 65_536
"""Of short frames that are told together, about."""
_FINAL_TEXT: Final = bytes((plain.FINAL_TEXT,))
_MANY: Final = 4_096
"""A longer read that may have more frames is cut in pieces: to cut them alone takes a while."""

_UTF8_BYTES: Final = 65_536
_HEAD_END: Final = b"\r\n\r\n"
_GOODBYE: Final = (1000).to_bytes(2, "big")
"""The code of a close with nothing wrong."""


class Listener(Protocol):
    """Who is told what happens on the connection. All calls come from the event loop."""

    def agent_opened(self, upstream: "Upstream") -> None:
        """The handshake succeeded: frames may be sent."""
        ...

    def agent_refused(self, why: DialFailure, status: int | None) -> None:
        """The handshake failed; `status` is the agent's HTTP status where it gave one."""
        ...

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        """The text frames of one socket read, or of a slice of it, whole, in valid UTF-8."""
        ...

    def agent_long_frame(self, frame: bytes, /) -> Iterator[None]:
        """A long text frame: what is done about it is done in short steps.

        Raises:
            TooManyError: it is not listened to.

        """
        ...

    def agent_frame_begun(self) -> None:
        """A part of a long frame came, and it is not whole."""
        ...

    def agent_left(self, why: Leaving, close_code: int | None) -> None:
        """The agent closed, or broke the protocol. Called once, and never after `close`."""
        ...


class Upstream(asyncio.Protocol):
    """One connection, from the TCP connect to its end. `url` is valid (`Dialler` checks it)."""

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        listener: Listener,
        *,
        subprotocols: Sequence[str],
        frame_bytes: int,
        hold: Hold,
        rounds: Rounds | None = None,
    ) -> None:
        self._hold = hold
        self._headers = headers
        self._listener = listener
        self._url = url
        self._subprotocols = tuple(subprotocols)
        self._request = library.request(url, self._subprotocols)
        self._key = generate_key()
        self._websocket: WebSocket | None = None
        """From the first that only it can read: few connections have any."""
        self._frame_bytes = frame_bytes
        self._reader = Reader(frame_bytes)
        self._is_plain = False
        """Whether what comes next begins a message, and nothing is left to do before it."""
        self._slices = Slices(Rounds() if rounds is None else rounds)
        """What is left to do of what was read. Nothing more is read meanwhile."""
        self._unread: list[bytes] = []
        """What came in nevertheless."""
        self._is_lost = False
        self._controls: Controls | None = None
        self._open = False
        self._over = False
        self._transport: asyncio.Transport | None = None
        self._is_held = self._is_full = False
        """Why it is not read: its frames have no taker; it does not read what we write."""
        self._lingering: asyncio.TimerHandle | None = None

    # What the core may ask for.

    def send(self, frames: Sequence[bytes]) -> None:
        """Send text frames. What the agent does not read of them waits (`unwritten_bytes`)."""
        transport = self._transport
        if transport is None or transport.is_closing() or not self._may_send:
            return
        for frame in frames:
            if len(frame) <= library.PIECE_BYTES:
                transport.write(library.masked(plain.FINAL_TEXT, frame))
            else:
                for piece in library.masked_in_pieces(plain.FINAL_TEXT, frame):
                    transport.write(piece)

    @property
    def unwritten_bytes(self) -> int:  # which the kernel has not taken
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    @property
    def _may_send(self) -> bool:
        websocket = self._websocket
        if not self._open or self._over:
            return False
        return websocket is None or websocket.state is OPEN

    def pause(self) -> None:
        """Read nothing more, until `resume`."""
        self._is_held = True
        self._slices.hold(is_held=True)
        self._read_or_not()

    def resume(self) -> None:
        self._is_held = False
        self._read_or_not()
        self._slices.hold(is_held=False)

    def close(self) -> None:
        """Say goodbye without waiting, and read nothing more.

        What the agent still sends is thrown away for at most `LINGER_S`: a
        socket closed over unread data is reset, and the reset may overtake the
        abort that was just written.
        """
        may_send = self._may_send
        self._over = True
        if not self._is_plain or self._hold.held_bytes:
            self._let_go()
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if not self._open:
            transport.abort()
            return
        if may_send:
            transport.write(library.masked(plain.CLOSE, _GOODBYE))
        self._read_or_not()
        self._lingering = asyncio.get_running_loop().call_later(LINGER_S, transport.abort)

    def abort(self) -> None:
        """Close without a word: nobody listens, and the transport may be closed already."""
        self._over = True
        self._let_go()
        if self._transport is not None:
            self._transport.abort()

    # What the socket tells.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast, not a check: uvloop's transports are no subclasses of asyncio's.
        self._transport = cast("asyncio.Transport", transport)
        if self._over:
            self._transport.abort()
            return
        self._transport.write(self._request.request(self._key, self._headers))

    def data_received(self, data: bytes) -> None:
        if self._over:
            return
        if not self._open and self._websocket is None:
            data = self._answered(data)
            if not data:
                return
        if not self._is_plain or len(data) > _MUCH_BYTES:
            self._read_much(data)
            return
        reader = self._reader
        if reader.begun:
            data = reader.begun + data
        frames, rest, is_plain = plain.cut(data, self._frame_bytes)
        if not is_plain or len(frames) > BATCH:
            reader.begun = b""
            self._do_slowly(rest, frames)
            return
        reader.begun = rest
        if len(rest) != self._hold.held_bytes and not self._hold.set(len(rest)):
            self._tell(frames)
            self._left(Leaving.NO_ROOM)
        elif all(map(bytes.isascii, frames)):
            if frames:
                self._listener.agent_frames(frames)
        else:
            self._tell(frames)

    # What takes longer.

    def _read_much(self, data: bytes) -> None:
        """A read that is long, or comes while there is work left, or within a long message."""
        if not self._is_plain or data.count(_FINAL_TEXT) > _MANY:
            self._do_slowly(data)
            return
        data, self._reader.begun = self._reader.begun + data, b""
        frames, rest, _ = plain.cut(data, self._frame_bytes)
        self._do_slowly(rest, frames)

    def _do_slowly(self, data: bytes, frames: Sequence[bytes] = ()) -> None:
        """Begin with a slice now; what is left goes on after the others."""
        if self._slices.are_left:
            self._unread.append(data)
            return
        self._is_plain = False
        self._slices.begin(self._all_of(data, frames))
        if self._slices.are_left:
            self._read_or_not()
            # It may have been counted already, with a long frame that is being told.
            waiting = max(self._hold.held_bytes, len(data) + self._reader.held_bytes)
            if not self._hold.set(waiting):
                self._left(Leaving.NO_ROOM)

    def _all_of(self, data: bytes, frames: Sequence[bytes]) -> Iterator[None]:
        try:
            # Few at a time where they are long.
            size = sum(map(len, frames))
            step = max(1, min(BATCH, len(frames) * _BATCH_BYTES // (size or 1)))
            for first in range(0, len(frames), step):
                self._tell(frames[first : first + step])
                yield
            yield from self._parsed(data)
            while self._unread:
                yield from self._parsed(self._unread.pop(0))
        except Exception:  # else nobody would ever end the connection
            self._slices.drop()
            if self._is_lost:
                self._gone()
            elif self._transport is not None:
                self._transport.abort()
            raise
        self._slices.drop()
        self._is_plain = self._open and self._reader.is_between
        self._read_or_not()
        if self._is_lost:
            self._gone()

    def _parsed(self, data: bytes) -> Iterator[None]:
        if not self._open:
            data = self._read_answer(data)
        reader = self._reader
        for read in reader.read(data):
            if isinstance(read, list):
                if len(read) == 1 and len(read[0]) > LONG_BYTES:
                    yield from self._tell_long(read.pop())  # what is told is kept no longer
                elif read:
                    self._tell(read)
            elif isinstance(read, ForLibrary):
                why = self._parse(read)
                if why is not None:
                    self._left(why)
            else:
                self._left(read)
            if self._over:
                return
            yield
        if not self._hold.set(reader.held_bytes):
            self._left(Leaving.NO_ROOM)
        elif reader.held_bytes > LONG_BYTES:
            self._listener.agent_frame_begun()

    def _tell(self, frames: Sequence[bytes]) -> None:
        """Tell of short frames, up to one that is no UTF-8."""
        if all(map(bytes.isascii, frames)):
            self._listener.agent_frames(frames)
            return
        sound = list(itertools.takewhile(_is_utf8, frames))
        if sound:
            self._listener.agent_frames(sound)
        if len(sound) < len(frames):
            self._left(Leaving.NOT_UTF8)

    def _tell_long(self, frame: bytes) -> Iterator[None]:
        if not self._hold.set(len(frame)):
            self._left(Leaving.NO_ROOM)
            return
        try:
            if not frame.isascii():
                decoder = codecs.getincrementaldecoder("utf-8")()
                for first in range(0, len(frame), _UTF8_BYTES):
                    decoder.decode(frame[first : first + _UTF8_BYTES])
                    yield
                decoder.decode(b"", final=True)
            yield from self._listener.agent_long_frame(frame)
        except UnicodeDecodeError:
            self._left(Leaving.NOT_UTF8)
        except TooManyError:
            self._left(Leaving.UNSOUND)

    def _answered(self, data: bytes) -> bytes:
        """The agent answers the handshake: returns what is not read of it yet."""
        head_bytes = handshake.yes(data, accept_key(self._key), self._subprotocols)
        if head_bytes:
            self._is_plain = True
            self._opened()
            return b"" if self._over else data[head_bytes:]
        self._websocket = library.client(self._url, self._subprotocols, self._key)
        return data

    def _read_answer(self, data: bytes) -> bytes:
        """Have the library read what is no plain yes. Returns what follows the head of a yes."""
        client = self._websocket
        assert client is not None
        seen, self._reader.begun = self._reader.begun, b""
        end = (seen + data).find(_HEAD_END)
        head = data if end < 0 else data[: end + len(_HEAD_END) - len(seen)]
        client.receive_data(head)
        if end < 0:
            self._reader.begun = (seen + data)[1 - len(_HEAD_END) :]
        if client.events_received() and client.handshake_exc is None:
            self._opened()
            return b"" if self._over else data[len(head) :]
        if end >= 0:
            client.receive_data(data[len(head) :])
        self._flush(client)
        if client.handshake_exc is not None:
            self._fail(*library.refusal(client.handshake_exc))
        return b""

    def _opened(self) -> None:
        self._open = True
        self._listener.agent_opened(self)

    def _parse(self, read: ForLibrary) -> Leaving | None:
        """Have the library read. Returns why the connection is of no more use, if so."""
        if self._controls is None:
            self._controls = Controls()
        if not self._controls.take(asyncio.get_running_loop().time()):
            return Leaving.UNSOUND
        websocket = self._websocket
        if websocket is None:
            self._websocket = websocket = library.opened()
        is_closed = library.control(websocket, read.data)
        self._flush(websocket)
        if is_closed:
            return Leaving.CLOSED
        return library.fault(websocket) or (None if read.is_sound else Leaving.BROKEN)

    def pause_writing(self) -> None:
        """The agent does not read. Its pings would pile up as pongs, so it is not read either."""
        self._is_full = True
        self._read_or_not()

    def resume_writing(self) -> None:
        self._is_full = False
        self._read_or_not()

    def _read_or_not(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if not self._over and (self._is_held or self._is_full or self._slices.are_left):
            transport.pause_reading()
        else:
            transport.resume_reading()

    def eof_received(self) -> None:
        # Of an open one the library is given control frames alone, and there may be some to come.
        if not self._over and not self._open and self._websocket is not None:
            self._websocket.receive_eof()

    def connection_lost(self, _exc: Exception | None) -> None:
        if self._lingering is not None:  # it would hold all this for as long
            self._lingering.cancel()
        self._is_lost = True
        if self._over:
            self._untie()
        elif not self._slices.are_left:
            self._gone()

    def _gone(self) -> None:
        """Nothing more comes, and all that came was heard."""
        self._left(Leaving.LINE_LOST)
        self._untie()

    def _untie(self) -> None:
        if self._websocket is not None:
            library.untie(self._websocket)

    def _fail(self, why: DialFailure, status: int | None = None) -> None:
        if not self._over:
            self._over = True
            self._let_go()
            self._listener.agent_refused(why, status)
            if self._transport is not None:
                self._transport.abort()

    def _left(self, why: Leaving) -> None:
        if not self._open:
            self._fail(DialFailure.HANDSHAKE)
        elif not self._over:
            self.close()
            self._listener.agent_left(why, library.close_code(self._websocket))

    def _let_go(self) -> None:
        """Keep nothing of what came."""
        self._reader.discard()
        self._unread.clear()
        self._slices.drop()
        self._hold.set(0)

    def _flush(self, websocket: WebSocket) -> None:
        transport = self._transport
        for data in websocket.data_to_send():
            if transport is not None and not transport.is_closing() and data:
                transport.write(data)


def _is_utf8(frame: bytes) -> bool:
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True
