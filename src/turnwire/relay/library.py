"""What is asked of `websockets`: the only importer of it.

The library's Sans-I/O protocol. It makes the request, reads every answer to it that is no plain
yes, answers pings and the close, and says what is wrong with what is no sound WebSocket.
"""

import functools
import logging
import os
from collections.abc import Iterator, Sequence
from typing import Final

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, PayloadTooBig
from websockets.frames import (  # type: ignore[attr-defined]  # the mask: its choice of two
    Frame,
    Opcode,
    apply_mask,
)
from websockets.protocol import CLIENT, OPEN
from websockets.protocol import Protocol as WebSocket
from websockets.typing import Subprotocol
from websockets.uri import parse_uri
from websockets.utils import accept_key, generate_key

from turnwire.relay import handshake, plain
from turnwire.relay.leaving import DialFailure, Leaving

_log: Final = logging.getLogger("websockets.client")
_uri: Final = functools.lru_cache(maxsize=1024)(parse_uri)

__all__ = ["OPEN", "WebSocket", "accept_key", "generate_key"]


def client(url: str, subprotocols: Sequence[str], key: str = "") -> ClientProtocol:
    """The library's own side of a handshake; without a key it makes one."""
    offered = [Subprotocol(name) for name in subprotocols] or None
    made = ClientProtocol(_uri(url), max_size=None, subprotocols=offered, logger=_log)
    made.key = key or made.key
    return made


@functools.lru_cache(maxsize=1024)
def request(url: str, subprotocols: Sequence[str]) -> handshake.Template:
    made = client(url, subprotocols)
    made.parser.close()  # which holds it
    return handshake.template(made.connect().serialize(), made.key)


def opened() -> WebSocket:
    """The library past the handshake. It is given control frames, which are small."""
    return WebSocket(CLIENT, max_size=None, logger=_log)


def refusal(problem: Exception) -> tuple[DialFailure, int | None]:
    """Why a handshake failed, and the agent's HTTP status where it gave one."""
    if not isinstance(problem, InvalidStatus):
        return DialFailure.HANDSHAKE, None
    status = problem.response.status_code
    is_redirect = 300 <= status < 400  # noqa: PLR2004 (the class of status)
    return DialFailure.REDIRECT if is_redirect else DialFailure.STATUS, status


def control(websocket: WebSocket, data: bytes) -> bool:
    """Have a control frame read. True: it was the close."""
    websocket.receive_data(data)
    events = websocket.events_received()
    return any(isinstance(event, Frame) and event.opcode is Opcode.CLOSE for event in events)


def fault(websocket: WebSocket) -> Leaving | None:
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


def close_code(websocket: WebSocket | None) -> int | None:
    """What the agent closed with, if it did."""
    closed = None if websocket is None else websocket.close_rcvd
    return None if closed is None else closed.code


def untie(websocket: WebSocket) -> None:
    """Nothing more comes: open the library's circles, or each waits for the collector.

    Its parser is a generator that holds it, and so do the frames of what it raised.
    """
    websocket.parser.close()
    for problem in (websocket.parser_exc, websocket.handshake_exc):
        if problem is not None:
            problem.__traceback__ = problem.__context__ = problem.__cause__ = None


def masked(kind: int, data: bytes) -> bytes:
    """A frame as the library makes it, which takes a dataclass and a file in memory for each."""
    mask = os.urandom(4)
    return b"%b%b%b" % (plain.masked_head(kind, len(data)), mask, apply_mask(data, mask))


def masked_in_pieces(kind: int, data: bytes) -> Iterator[bytes]:
    """A long one as it is written: TLS takes each write whole, and would hold it uncounted."""
    mask = os.urandom(4)
    yield plain.masked_head(kind, len(data)) + mask
    for at in range(0, len(data), PIECE_BYTES):
        yield apply_mask(data[at : at + PIECE_BYTES], mask)


PIECE_BYTES: Final = 65_536
"""A multiple of the mask's length."""
