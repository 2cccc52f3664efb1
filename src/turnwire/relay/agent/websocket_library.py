"""The adapter to the `websockets` library: the only module that imports it.

It uses the library's Sans-I/O protocol. The library makes the handshake request, reads each
response that `websocket_handshake` does not accept, answers pings and the close, and finds the
error in bytes that violate the protocol.
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

from turnwire.relay.agent import websocket_fast_path, websocket_handshake
from turnwire.relay.agent.failures import DialFailure, DisconnectReason

_log: Final = logging.getLogger("websockets.client")
_uri: Final = functools.lru_cache(maxsize=1024)(parse_uri)

__all__ = ["OPEN", "WebSocket", "accept_key", "generate_key"]


def new_client(url: str, subprotocols: Sequence[str], key: str = "") -> ClientProtocol:
    """Return the library's client side of a handshake. Without a key it makes one."""
    offered = [Subprotocol(name) for name in subprotocols] or None
    protocol = ClientProtocol(_uri(url), max_size=None, subprotocols=offered, logger=_log)
    protocol.key = key or protocol.key
    return protocol


@functools.lru_cache(maxsize=1024)
def request_template(url: str, subprotocols: Sequence[str]) -> websocket_handshake.Template:
    protocol = new_client(url, subprotocols)
    protocol.parser.close()  # breaks a reference cycle
    return websocket_handshake.template(protocol.connect().serialize(), protocol.key)


def new_websocket() -> WebSocket:
    """Return the library's protocol after the handshake. It gets only small control frames."""
    return WebSocket(CLIENT, max_size=None, logger=_log)


def dial_failure(problem: Exception) -> tuple[DialFailure, int | None]:
    """Return why a handshake failed, and the agent's HTTP status, if it sent one."""
    if not isinstance(problem, InvalidStatus):
        return DialFailure.HANDSHAKE, None
    status = problem.response.status_code
    is_redirect = 300 <= status < 400  # noqa: PLR2004 (the class of status)
    return DialFailure.REDIRECT if is_redirect else DialFailure.STATUS, status


def receive_control(websocket: WebSocket, data: bytes) -> bool:
    """Pass a control frame to the library. True: it was the close."""
    websocket.receive_data(data)
    events = websocket.events_received()
    return any(isinstance(event, Frame) and event.opcode is Opcode.CLOSE for event in events)


def disconnect_reason(websocket: WebSocket) -> DisconnectReason | None:
    """Return the error that the library found in its input; None: no error."""
    match websocket.parser_exc:
        case None:
            return None
        case PayloadTooBig():
            return DisconnectReason.TOO_BIG
        case UnicodeDecodeError():
            return DisconnectReason.NOT_UTF8
        case _:
            return DisconnectReason.BROKEN


def close_code(websocket: WebSocket | None) -> int | None:
    """Return the close code of the agent; None if it sent no close."""
    close_frame = None if websocket is None else websocket.close_rcvd
    return None if close_frame is None else close_frame.code


def break_cycles(websocket: WebSocket) -> None:
    """After the end of the input: break the library's reference cycles.

    Otherwise each connection waits for the garbage collector. The parser is a generator that
    references the protocol, and so do the tracebacks of the exceptions it raised.
    """
    websocket.parser.close()
    for problem in (websocket.parser_exc, websocket.handshake_exc):
        if problem is not None:
            problem.__traceback__ = problem.__context__ = problem.__cause__ = None


def masked(first_byte: int, data: bytes) -> bytes:
    """Return a masked frame, as the library makes it, without its dataclass and its `BytesIO`."""
    mask = os.urandom(4)
    return b"%b%b%b" % (
        websocket_fast_path.masked_head(first_byte, len(data)),
        mask,
        apply_mask(data, mask),
    )


def masked_in_pieces(first_byte: int, data: bytes) -> Iterator[bytes]:
    """Yield a long masked frame in pieces: TLS buffers each write whole, outside the budget."""
    mask = os.urandom(4)
    yield websocket_fast_path.masked_head(first_byte, len(data)) + mask
    for position in range(0, len(data), PIECE_BYTES):
        yield apply_mask(data[position : position + PIECE_BYTES], mask)


PIECE_BYTES: Final = 65_536
"""A multiple of the mask's length."""
