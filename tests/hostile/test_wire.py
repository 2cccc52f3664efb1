"""The rig's own WebSocket, held against the library's."""

import pytest
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from hostile import agents_bytes, agents_session_agent, agents_v2
from hostile.attack import MARK, MIB, AgentAttack, numbered, text
from hostile.wire import CLOSE, TEXT, FrameReader, accepted

URI = parse_uri("ws://127.0.0.1:1/v2/hostile-1")
AGENTS = (
    *agents_bytes.ROWS,
    *agents_v2.ROWS,
    *agents_session_agent.ROWS,
)


def opened() -> ClientProtocol:
    """A client of the library's that shook hands with the rig."""
    client = ClientProtocol(URI, subprotocols=[Subprotocol("valet")], max_size=64 * MIB)
    client.send_request(client.connect())
    client.receive_data(accepted(b"".join(client.data_to_send()).partition(b"\r\n\r\n")[0]))
    client.events_received()
    return client


def test_the_handshake_is_a_sound_one() -> None:
    client = opened()

    assert client.state is OPEN
    assert client.subprotocol == "valet"


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
def test_what_a_client_says_is_heard_however_it_is_cut(size: int) -> None:
    client = opened()
    client.send_text(b"x" * size)
    client.send_close(1000)
    said = b"".join(client.data_to_send())
    ear = FrameReader()

    step = max(1, len(said) // 100)
    heard = [one for at in range(0, len(said), step) for one in ear.hear(said[at : at + step])]

    assert [one.opcode for one in heard] == [TEXT, CLOSE]
    assert heard[0].payload == b"x" * size


def test_each_frame_without_end_has_a_number_of_its_own() -> None:
    client = opened()
    client.receive_data(next(numbered(text(b'{"a":%d}' % MARK), 1_000)))

    frames = [bytes(event.data) for event in client.events_received() if isinstance(event, Frame)]

    assert len(set(frames)) == len(frames) > 50
    assert {len(frame) for frame in frames} == {len(b'{"a":%d}' % MARK)}


@pytest.mark.parametrize("attack", AGENTS, ids=lambda row: f"{row.wire} {row.name}")
def test_the_first_block_of_an_attack_begins_with_a_frame(attack: AgentAttack) -> None:
    block = next(iter(attack.blocks()))

    assert block
    assert block[0] & 0x0F in {Opcode.TEXT, Opcode.PING, Opcode.PONG}
    assert len(block) <= 32 * MIB + 14


def test_no_two_attacks_have_one_name() -> None:
    names = [(attack.wire, attack.name) for attack in AGENTS]

    assert len(set(names)) == len(names)
