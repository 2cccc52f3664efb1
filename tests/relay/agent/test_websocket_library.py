"""What is asked of the library, and how its answers are put into the words of the port."""

import itertools

import pytest
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from support.open_websocket import SIZES, head
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.websocket_library import (
    OPEN,
    PIECE_BYTES,
    break_cycles,
    close_code,
    dial_failure,
    disconnect_reason,
    generate_key,
    masked,
    masked_in_pieces,
    new_client,
    new_websocket,
    receive_control,
    request_template,
)

URL = "ws://127.0.0.1:81/s1"
CLOSE = head(0x88, 2, mask=False) + b"\x03\xe9"


def problem(answer: bytes) -> Exception:
    """Why the library rejects this answer to a handshake."""
    client = new_client(URL, ())
    client.receive_data(answer)
    client.receive_eof()
    client.events_received()
    assert client.handshake_exc is not None
    return client.handshake_exc


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (b"HTTP/1.1 301 x\r\n\r\n", (DialFailure.REDIRECT, 301)),
        (b"HTTP/1.1 399 x\r\n\r\n", (DialFailure.REDIRECT, 399)),
        (b"HTTP/1.1 400 x\r\n\r\n", (DialFailure.STATUS, 400)),
        (b"HTTP/1.1 200 x\r\n\r\n", (DialFailure.STATUS, 200)),
        (b"HTTP/1.1 101 x\r\n\r\n", (DialFailure.HANDSHAKE, None)),
        (b"SSH-2.0-x\r\n", (DialFailure.HANDSHAKE, None)),
        (b"", (DialFailure.HANDSHAKE, None)),
    ],
)
def test_why_a_handshake_failed(answer: bytes, failure: tuple[DialFailure, int | None]) -> None:
    rejected = problem(answer)

    assert dial_failure(rejected) == failure
    assert isinstance(rejected, InvalidStatus) is (failure[1] is not None)


@pytest.mark.parametrize("subprotocols", [(), ("agent.v9", "agent.v8")])
def test_a_request_of_the_template_opens_a_connection(subprotocols: tuple[str, ...]) -> None:
    server, key = ServerProtocol(subprotocols=[]), generate_key()

    server.receive_data(request_template(URL, subprotocols).request(key, {"x": "y"}))

    (request,) = server.events_received()
    assert isinstance(request, Request)
    assert server.accept(request).status_code == 101
    assert (request.path, request.headers["host"]) == ("/s1", "127.0.0.1:81")
    assert (request.headers["sec-websocket-key"], request.headers["x"]) == (key, "y")
    assert request.headers.get("sec-websocket-protocol") == (", ".join(subprotocols) or None)
    assert "sec-websocket-extensions" not in request.headers


def test_a_ping_is_answered_and_a_close_is_one() -> None:
    websocket = new_websocket()

    assert not receive_control(websocket, head(0x89, 2, mask=False) + b"hi")
    assert websocket.data_to_send()[0][:2] == b"\x8a\x82"  # a masked pong
    assert (websocket.state, close_code(websocket)) == (OPEN, None)
    assert receive_control(websocket, CLOSE)
    assert (websocket.state is OPEN, close_code(websocket)) == (False, 1001)
    assert disconnect_reason(websocket) is None


def test_without_the_library_there_was_no_close() -> None:
    assert close_code(None) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(head(0x81, 3, mask=True) + b"maskabc", DisconnectReason.BROKEN, id="a mask"),
        pytest.param(head(0x88, 1, mask=False) + b"x", DisconnectReason.BROKEN, id="half a code"),
        pytest.param(
            head(0x88, 4, mask=False) + b"\x03\xe8\xc3\x28",
            DisconnectReason.NOT_UTF8,
            id="no UTF-8",
        ),
    ],
)
def test_why_the_library_rejects_what_came(data: bytes, why: DisconnectReason) -> None:
    websocket = new_websocket()

    receive_control(websocket, data)

    assert disconnect_reason(websocket) is why
    break_cycles(websocket)
    assert websocket.parser_exc is not None
    assert websocket.parser_exc.__traceback__ is None


@pytest.mark.parametrize("size", [*SIZES, PIECE_BYTES + 1, 3 * PIECE_BYTES])
def test_a_masked_frame_is_one_of_the_librarys(size: int) -> None:
    data = bytes(itertools.islice(itertools.cycle(range(256)), size))
    server = new_server()

    server.receive_data(masked(0x81, data))
    pieces = list(masked_in_pieces(0x81, data))
    server.receive_data(b"".join(pieces))

    received = [event for event in server.events_received() if isinstance(event, Frame)]
    assert [(frame.opcode, bytes(frame.data)) for frame in received] == [(Opcode.TEXT, data)] * 2
    assert server.parser_exc is None
    assert max(map(len, pieces)) <= max(PIECE_BYTES, 14)


def new_server() -> ServerProtocol:
    """The library's side of an agent, past the handshake."""
    server = ServerProtocol(max_size=None)
    server.receive_data(request_template(URL, ()).request(generate_key(), {}))
    (request,) = server.events_received()
    assert isinstance(request, Request)
    server.send_response(server.accept(request))
    return server
