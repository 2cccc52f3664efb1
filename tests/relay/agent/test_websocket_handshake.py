"""The short way of a handshake, held equal to the library's own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.client import ClientProtocol
from websockets.protocol import OPEN
from websockets.typing import Subprotocol
from websockets.uri import parse_uri
from websockets.utils import accept_key

from turnwire.core.connect import is_reserved
from turnwire.relay.agent import websocket_handshake

URL = "ws://ann:secret@[::1]:8080/v2/s%201?x=y"
KEY = "bm9uY2Vub25jZW5vbmNlMQ=="
ACCEPT = accept_key(KEY)
OFFERED = ("one", "two")
HEADERS = {"user-agent": "turnwire/1", "x-turnwire-user": "ann\xe9", "authorization": "Bearer x"}

YES = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Accept": ACCEPT,
    "Date": "Mon, 01 Jan 2026 00:00:00 GMT",
}


def library() -> ClientProtocol:
    client = ClientProtocol(parse_uri(URL), subprotocols=[Subprotocol(name) for name in OFFERED])
    client.key = KEY
    return client


def head(fields: dict[str, str], status: str = "HTTP/1.1 101 Switching Protocols") -> bytes:
    lines = [status, *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def judged(data: bytes) -> bool:
    """Whether the library opens the connection at this answer."""
    client = library()
    client.receive_data(data)
    client.events_received()
    return client.state is OPEN


def test_a_request_is_the_librarys() -> None:
    client = library()
    request = client.connect()
    made = websocket_handshake.template(client.connect().serialize(), KEY).request(KEY, HEADERS)
    for name, value in HEADERS.items():
        request.headers[name] = value

    assert made == request.serialize()


def test_no_dialect_may_set_a_header_of_the_library() -> None:
    names = [name for name, _ in library().connect().headers.raw_items()]

    assert "Sec-WebSocket-Key" in names
    assert [name for name in names if not is_reserved(name)] == []


def test_another_key_is_another_request() -> None:
    client = library()
    template = websocket_handshake.template(client.connect().serialize(), KEY)
    client.key = "AAAAAAAAAAAAAAAAAAAAAA=="

    assert template.request(client.key, {}) == client.connect().serialize()


@pytest.mark.parametrize("value", ["a\r\nx: y", "a\nb", "a\0", "\u20ac"])
def test_a_value_that_would_be_more_than_a_value_is_refused(value: str) -> None:
    template = websocket_handshake.Template(b"", b"")

    with pytest.raises(ValueError, match="value"):
        template.request(KEY, {"x": value})


@pytest.mark.parametrize("more", [{}, {"Sec-WebSocket-Protocol": "two"}, {"X": ""}])
def test_the_usual_answer_is_a_yes(more: dict[str, str]) -> None:
    data = head(YES | more)

    assert websocket_handshake.accepted_head_length(data + b"\x81\x01x", ACCEPT, OFFERED) == len(
        data
    )
    assert judged(data)


@pytest.mark.parametrize(
    "data",
    [
        head(YES)[:-1],
        head(YES, "HTTP/1.1 200 OK"),
        head(YES, "HTTP/1.0 101 x"),
        head(YES, "HTTP/1.1 101"),
        head(YES | {"Upgrade": "h2c"}),
        head(YES | {"Connection": "close"}),
        head(YES | {"Connection": "keep-alive, Upgrade"}),
        head(YES | {"Sec-WebSocket-Accept": accept_key("x")}),
        head(YES | {"Sec-WebSocket-Extensions": "permessage-deflate"}),
        head(YES | {"Sec-WebSocket-Protocol": "three"}),
        head(YES | {"Sec-WebSocket-Protocol": "one, two"}),
        head(YES | {"Sec-WebSocket-Protocol": ""}),
        head(YES | {"connection": "Upgrade"}),
        head(YES | {"X": "a\nb"}),
        head(YES | {"X": "a\0"}),
        head(YES | {"X y": "a"}),
        head(YES | {"X": "a" * 5_000}),
        head(YES | {f"X-{n}": "a" for n in range(40)}),
        head({name: value for name, value in YES.items() if name != "Upgrade"}),
        head({name: value for name, value in YES.items() if name != "Sec-WebSocket-Accept"}),
    ],
)
def test_any_other_answer_is_the_librarys_to_judge(data: bytes) -> None:
    assert websocket_handshake.accepted_head_length(data, ACCEPT, OFFERED) == 0


_FIELDS = st.dictionaries(
    st.sampled_from(
        [*YES, "connection", "Sec-WebSocket-Protocol", "X", "Sec-WebSocket-Extensions"]
    ),
    st.sampled_from(
        [*YES.values(), *OFFERED, "", " upgrade ", "WebSocket", "x\ty", "a\rb", "\xe9"]
    ),
)


@given(_FIELDS, st.sampled_from(["HTTP/1.1 101 x", "HTTP/1.1 101 ", "HTTP/1.1 100 x"]))
def test_what_is_a_yes_here_is_one_for_the_library(fields: dict[str, str], status: str) -> None:
    data = head(YES | fields, status)

    length = websocket_handshake.accepted_head_length(data, ACCEPT, OFFERED)

    assert length in {0, len(data)}
    if length:
        assert judged(data)


@given(st.binary(max_size=60))
def test_noise_in_an_answer(noise: bytes) -> None:
    data = re.sub(rb"Mon.*GMT", lambda _: noise, head(YES))

    length = websocket_handshake.accepted_head_length(data, ACCEPT, OFFERED)

    if length:
        assert judged(data[:length])


def test_a_yes_that_was_read_before_still_has_to_prove_its_key() -> None:
    """One head is read once, but for its proof."""
    for key in (KEY, "AAAAAAAAAAAAAAAAAAAAAA=="):
        accept = accept_key(key)
        data = head(YES | {"Sec-WebSocket-Accept": accept})

        assert websocket_handshake.accepted_head_length(data, accept, OFFERED) == len(data)
        assert websocket_handshake.accepted_head_length(data, accept_key("another"), OFFERED) == 0
        assert websocket_handshake.accepted_head_length(data, accept, OFFERED) == len(data)


@pytest.mark.parametrize("stranger", ["A" * 27 + "=", ACCEPT])
def test_a_proof_in_another_place_proves_nothing(stranger: str) -> None:
    for fields in (
        {"X": ACCEPT} | YES | {"Sec-WebSocket-Accept": stranger},
        YES | {"Sec-WebSocket-Accept": stranger, "X": ACCEPT},
        YES | {"Sec-WebSocket-Accept": f"{ACCEPT}{stranger}"},
    ):
        data = head(fields)
        if websocket_handshake.accepted_head_length(data, ACCEPT, OFFERED):
            assert judged(data)
