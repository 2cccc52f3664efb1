"""A turn that is played: the end of a dial, and the frames that come after its own end."""

import asyncio
from typing import Any, ClassVar

import msgspec
import pytest

from support.serial_protocol import Serial, SerialAgain
from turnwire.conform.play import Play
from turnwire.core.turn.limits import Limits
from turnwire.core.wire.schema import Split, WireSchema
from turnwire.relay.agent.failures import DialFailure, DisconnectReason
from turnwire.relay.agent.port import AgentTarget, KeepsNoConnection, Scheme
from turnwire.relay.memory_budget import Budget


class Say(msgspec.Struct, tag="say"):
    text: str


class Opened:
    """A connection that sends nothing."""

    brings_frames = False
    unwritten_bytes = 0

    def _nothing(self, *_: object) -> None: ...

    send = pause = resume = finish = close = _nothing

    def may_open_late(self) -> bool:
        return False


class Dialled(KeepsNoConnection):
    """A transport that counts its dials. Its connections are opened by the test."""

    name: ClassVar = "dialled"
    scheme: ClassVar = Scheme("wait")
    status_is_answer: ClassVar = False

    def __init__(self, *_: object, frame_bytes: int = 1) -> None:
        del frame_bytes
        self.dials = 0

    @classmethod
    def check(cls, _: object) -> None: ...

    def open_kept(self, *_: object) -> Any:
        self.dials += 1
        return Opened()

    async def open(self, *_: object) -> Any:
        raise AssertionError


def playing(protocol: Serial) -> tuple[Play, Dialled]:
    transport = Dialled()
    play = Play(
        protocol,
        Limits(),
        transport=transport,
        target=lambda _: AgentTarget("wait://x", {}),
        holder=Budget().holder("u1"),
        can_pause=False,
    )
    play.begin(9)
    play.agent_opened(Opened())
    return play, transport


async def test_a_dial_that_fails_in_a_turn_is_asked_for_as_in_a_gateway() -> None:
    play, transport = playing(SerialAgain())
    play.agent_frames([b"Hello", b"next"])
    play.agent_left(DisconnectReason.CLOSED, None)

    play.agent_refused(DialFailure.STATUS, 503, None)
    play.agent_refused(DialFailure.TIMEOUT, None, None)
    await asyncio.sleep(0)
    play.agent_opened(Opened())
    play.agent_frames([b" world", b"end"])
    play.close()

    assert (play.text, play.is_completed, play.refused) == ("Hello world", True, None)
    assert transport.dials == 3


async def test_a_dial_that_nobody_is_asked_for_ends_the_turn() -> None:
    play, _ = playing(Serial())
    play.agent_frames([b"Hello", b"next"])
    play.agent_left(DisconnectReason.CLOSED, None)

    play.agent_refused(DialFailure.STATUS, 503, None)
    assert await play.to_end(9)
    play.close()

    assert play.ending() == "was refused: HTTP status 503"


@pytest.mark.parametrize(
    ("split", "frame"),
    [
        (None, b'{"type":"say","text":"late"}'),
        (lambda frame: (frame[1], frame[2]), b'[7,"say",{"text":"late"}]'),
    ],
)
async def test_a_late_delta_is_seen_in_each_envelope(split: Split | None, frame: bytes) -> None:
    schema = WireSchema(
        frames=[Say], deltas=frozenset({"say"}), unread={}, inside={}, types={}, split=split
    )
    play, _ = playing(Serial())

    play.agent_frames([b"end", frame, b"wait"])
    play.close()

    assert play.late_deltas(schema, is_shared=False) == 1
