"""One WebSocket to the agent: the only importer of `websockets`.

The library's Sans-I/O protocol inside an `asyncio.Protocol`: frames are taken
in the socket's own callback, all of one read at once, without a task or a
queue between the socket and the `Turn`. No compression, no library pings, one
dial, no redirect.
"""

import asyncio
import enum
import functools
import itertools
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, PayloadTooBig
from websockets.frames import (  # type: ignore[attr-defined]  # the mask: its choice of two
    Frame,
    Opcode,
    apply_mask,
)
from websockets.protocol import CLIENT, OPEN
from websockets.protocol import Protocol as WebSocket
from websockets.streams import StreamReader
from websockets.typing import Subprotocol
from websockets.uri import parse_uri
from websockets.utils import accept_key, generate_key

from turnwire.relay import handshake, plain
from turnwire.relay.budget import Hold
from turnwire.relay.leaving import Leaving

LINGER_S: Final = 0.5
"""How long a closed connection waits for the agent's side before it is cut."""

_TEXT: Final = Opcode.TEXT
_GOODBYE: Final = (1000).to_bytes(2, "big")
"""The code of a close with nothing wrong."""
_BETWEEN_FRAMES: Final = StreamReader.at_eof.__code__
"""Where the library's parser waits for a head. Should it wait elsewhere, all frames go to it."""
_log: Final = logging.getLogger("websockets.client")
_uri: Final = functools.lru_cache(maxsize=1024)(parse_uri)


class DialFailure(enum.Enum):
    """Why a connection did not open. The value is a metric label."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    HANDSHAKE = "handshake"
    REDIRECT = "redirect"
    STATUS = "status"


class Listener(Protocol):
    """Who is told what happens on the connection. All calls come from the event loop."""

    def agent_opened(self, upstream: "Upstream") -> None:
        """The handshake succeeded: frames may be sent."""
        ...

    def agent_refused(self, why: DialFailure, status: int | None) -> None:
        """The handshake failed; `status` is the agent's HTTP status where it gave one."""
        ...

    def agent_frames(self, frames: Sequence[bytes]) -> None:
        """The text frames of one socket read, whole, in valid UTF-8."""
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
    ) -> None:
        self._hold = hold
        self._headers = headers
        self._listener = listener
        self._url = url
        self._subprotocols = tuple(subprotocols)
        self._request = _request(url, self._subprotocols)
        self._key = generate_key()
        self._websocket: WebSocket | None = None
        """From the first that is not for the short lane: few connections have any."""
        self._frame_bytes = frame_bytes
        self._partial: bytearray | None = None
        """A message in several frames, as far as it came."""
        self._begun = b""
        """A plain frame, as far as it came."""
        self._is_between = False
        """Whether the next byte begins a message, so that the short lane may look at it."""
        self._open = False
        self._over = False
        self._transport: asyncio.Transport | None = None
        self._is_held = self._is_full = False
        """Why it is not read: its frames have no taker; it does not read what we write."""
        self._lingering: asyncio.TimerHandle | None = None

    # What the core may ask for.

    def send(self, frames: Sequence[bytes]) -> None:
        """Send text frames. The prompt and an abort are small: they fit the socket's buffer."""
        transport = self._transport
        if transport is None or transport.is_closing() or not self._may_send:
            return
        for frame in frames:
            transport.write(_masked(plain.FINAL_TEXT, frame))

    @property
    def _may_send(self) -> bool:
        websocket = self._websocket
        if not self._open or self._over:
            return False
        return websocket is None or websocket.state is OPEN

    def pause(self) -> None:
        """Read nothing more, until `resume`."""
        self._is_held = True
        self._read_or_not()

    def resume(self) -> None:
        self._is_held = False
        self._read_or_not()

    def close(self) -> None:
        """Say goodbye without waiting, and read nothing more.

        What the agent still sends is thrown away for at most `LINGER_S`: a
        socket closed over unread data is reset, and the reset may overtake the
        abort that was just written.
        """
        may_send = self._may_send
        self._over = True
        self._begun = b""
        self._hold.set(0)
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if not self._open:
            transport.abort()
            return
        if may_send:
            transport.write(_masked(plain.CLOSE, _GOODBYE))
        self._read_or_not()
        self._lingering = asyncio.get_running_loop().call_later(LINGER_S, transport.abort)

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
        if self._begun:
            data, self._begun = self._begun + data, b""
        frames: list[bytes] = []
        why: Leaving | None = None
        if self._is_between:
            frames, data, self._is_between = plain.cut(data, self._frame_bytes)
        if self._is_between:
            self._begun = data
            waiting = len(data)
        else:
            websocket = self._websocket
            if websocket is None:
                websocket = WebSocket(CLIENT, max_size=self._frame_bytes, logger=_log)
                self._websocket = websocket
            why = self._parse(websocket, data, frames)
            self._is_between = self._has_nothing(websocket)
            waiting = len(websocket.reader.buffer)
            if self._partial is not None:
                waiting += len(self._partial)
        if waiting != self._hold.held_bytes and not self._hold.set(waiting):
            why = why or Leaving.NO_ROOM
        if not all(map(bytes.isascii, frames)):
            count = len(frames)
            frames = list(itertools.takewhile(_is_utf8, frames))
            if len(frames) < count:
                why = Leaving.NOT_UTF8
        if frames:
            self._listener.agent_frames(frames)
        if why is not None:
            self._left(why)

    def _answered(self, data: bytes) -> bytes:
        """The agent answers the handshake: returns what is not read of it yet."""
        head_bytes = handshake.yes(data, accept_key(self._key), self._subprotocols)
        if head_bytes:
            self._is_between = True
            self._opened()
            return b"" if self._over else data[head_bytes:]
        library = _library(self._url, self._subprotocols, self._frame_bytes)
        library.key = self._key
        self._websocket = library
        return data

    def _opened(self) -> None:
        self._open = True
        self._listener.agent_opened(self)

    def _has_nothing(self, websocket: WebSocket) -> bool:
        """Whether the library has no part of a message, and can have the next one.

        An empty buffer does not say so: the library may have taken a head and wait for the rest.
        """
        if self._partial is not None or websocket.state is not OPEN:
            return False
        step: Any = websocket.parser
        while step.gi_yieldfrom is not None:
            step = step.gi_yieldfrom
        return step.gi_code is _BETWEEN_FRAMES

    def _parse(self, websocket: WebSocket, data: bytes, frames: list[bytes]) -> Leaving | None:
        """Have the library read. Returns why the connection is of no more use, if so."""
        websocket.receive_data(data)
        why: Leaving | None = None
        for event in websocket.events_received():
            if type(event) is not Frame:
                why = None if self._shake_hands(websocket) else Leaving.BROKEN
            elif event.opcode is _TEXT and event.fin:
                frames.append(bytes(event.data))
            else:
                why = self._take(event, frames)
            if why is not None:
                break
        self._flush(websocket)
        if why is None and websocket.handshake_exc is not None:
            return Leaving.BROKEN
        return why or _broken(websocket)

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
        if not self._over and (self._is_held or self._is_full):
            transport.pause_reading()
        else:
            transport.resume_reading()

    def eof_received(self) -> None:
        if not self._over and self._websocket is not None:
            self._websocket.receive_eof()

    def connection_lost(self, _exc: Exception | None) -> None:
        if self._lingering is not None:  # it would hold all this for as long
            self._lingering.cancel()
        self._left(Leaving.LINE_LOST)
        self._untie()

    def _untie(self) -> None:
        """Nothing more comes: open the library's circles, or each waits for the collector.

        Its parser is a generator that holds it, and so do the frames of what it raised.
        """
        websocket = self._websocket
        if websocket is None:
            return
        websocket.parser.close()
        for problem in (websocket.parser_exc, websocket.handshake_exc):
            if problem is not None:
                problem.__traceback__ = problem.__context__ = problem.__cause__ = None

    def _take(self, frame: Frame, frames: list[bytes]) -> Leaving | None:
        """Take a frame that is not a whole text frame. Returns as `_parse`."""
        match frame.opcode:
            case Opcode.PING | Opcode.PONG:  # the library has put the pong in its outbox
                return None
            case Opcode.TEXT:
                self._partial = bytearray(frame.data)
                return None
            case Opcode.CONT if self._partial is not None:
                self._partial += frame.data
                if frame.fin:
                    frames.append(bytes(self._partial))
                    self._partial = None
                return None
            case Opcode.CLOSE:
                return Leaving.CLOSED
            case _:
                return Leaving.BINARY

    def _shake_hands(self, websocket: WebSocket) -> bool:
        problem = websocket.handshake_exc
        if problem is None:
            self._opened()
            return not self._over
        why, status = DialFailure.HANDSHAKE, None
        if isinstance(problem, InvalidStatus):
            status = problem.response.status_code
            is_redirect = 300 <= status < 400  # noqa: PLR2004 (the class of status)
            why = DialFailure.REDIRECT if is_redirect else DialFailure.STATUS
        self._fail(why, status)
        return False

    def _fail(self, why: DialFailure, status: int | None = None) -> None:
        if not self._over:
            self._over = True
            self._hold.set(0)
            self._listener.agent_refused(why, status)
            if self._transport is not None:
                self._transport.abort()

    def _left(self, why: Leaving) -> None:
        if not self._open:
            self._fail(DialFailure.HANDSHAKE)
        elif not self._over:
            self.close()
            self._listener.agent_left(why, _close_code(self._websocket))

    def _flush(self, websocket: WebSocket) -> None:
        transport = self._transport
        for data in websocket.data_to_send():
            if transport is not None and not transport.is_closing() and data:
                transport.write(data)


def _masked(kind: int, data: bytes) -> bytes:
    """A frame as the library makes it, which takes a dataclass and a file in memory for each."""
    mask = os.urandom(4)
    return b"%b%b%b" % (plain.masked_head(kind, len(data)), mask, apply_mask(data, mask))


def _library(url: str, subprotocols: Sequence[str], frame_bytes: int) -> ClientProtocol:
    """The library's own side of a handshake."""
    offered = [Subprotocol(name) for name in subprotocols] or None
    return ClientProtocol(_uri(url), max_size=frame_bytes, subprotocols=offered, logger=_log)


@functools.lru_cache(maxsize=1024)
def _request(url: str, subprotocols: Sequence[str]) -> handshake.Template:
    library = _library(url, subprotocols, 0)
    library.parser.close()  # which holds it
    return handshake.template(library.connect().serialize(), library.key)


def _broken(websocket: WebSocket) -> Leaving | None:
    """What the library found in what it read; None: nothing."""
    match websocket.parser_exc:
        case None:
            return None
        case PayloadTooBig():
            return Leaving.TOO_BIG
        case UnicodeDecodeError():
            return Leaving.NOT_UTF8
        case _:
            return Leaving.BROKEN


def _close_code(websocket: WebSocket | None) -> int | None:
    """What the agent closed with, if it did."""
    closed = None if websocket is None else websocket.close_rcvd
    return None if closed is None else closed.code


def _is_utf8(frame: bytes) -> bool:
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True
