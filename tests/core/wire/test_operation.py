"""Every operation waits for `init`, and then for a reply; each wait has its deadline."""

import math
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from turnwire.core.wire.decoder import FrameDecoder
from turnwire.core.wire.operation import Operation


class Frame(Struct, frozen=True, tag_field="type", tag="init"):
    depth: int = 0


DECODER = FrameDecoder[Frame](
    msgspec.json.Decoder(Frame).decode, [Frame], lambda frame, _loose: frame
)


class Ask(Operation[Frame]):
    """Asks at `init`, and notes what becomes of it."""

    def __init__(self) -> None:
        super().__init__(DECODER, init_s=5, verdict_s=3)
        self.notes: list[str] = []

    def _handle(self, frame: Frame, now: float) -> Sequence[bytes]:
        if frame.depth:
            raise RecursionError
        self._is_past_init = True
        return self._send_and_wait([b"ask"], now)

    def _init_missing(self, _now: float) -> Sequence[bytes]:
        self.notes.append("no init")
        return [b"ask without"]

    def _reply_missing(self, _now: float) -> Sequence[bytes]:
        self.notes.append("no reply")
        return ()


def opened(now: float = 1) -> Ask:
    ask = Ask()
    assert ask.deadline == math.inf
    assert ask.connection_opened(now) == ()
    return ask


def test_init_is_waited_for() -> None:
    ask = opened()

    assert ask.deadline == 6
    assert ask.tick(5.9) == ()
    assert ask.notes == []
    assert ask.tick(6) == [b"ask without"]
    assert ask.notes == ["no init"]


def test_the_reply_is_waited_for() -> None:
    ask = opened()

    assert ask.receive_frame(b'{"type":"init"}', 2) == [b"ask"]
    assert ask.deadline == 5
    assert ask.tick(4.9) == ask.tick(5) == ()
    assert ask.notes == ["no reply"]


def test_what_cannot_be_read_changes_nothing() -> None:
    ask = opened()

    assert ask.receive_frame(b"{", 2) == ()
    assert ask.receive_frame(b'{"type":"init","depth":1}', 2) == ()
    assert (ask.deadline, ask.frame_stats.malformed) == (6, 2)
