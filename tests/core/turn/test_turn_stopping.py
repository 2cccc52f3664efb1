"""A stop that the agent confirms: until then the turn goes on, and shows nothing more."""

from collections.abc import Sequence

import pytest

from support.scripted_protocol import FrameResult, Scripted
from support.turns import NOTHING, sent_types, verdict
from turnwire.core.agent import NEVER, AbortScope, Decoded
from turnwire.core.events import Reason, TurnFinished
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Opened, Stopped, Tick
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream

CANCEL = b'{"type":"cancel"}'
CANCELED = Decoded([TurnFinished(reason=Reason.CANCELED)])


class Confirming(Scripted):
    """Its agent says within five seconds that it stopped."""

    def __init__(self, decoded: Sequence[FrameResult]) -> None:
        super().__init__(decoded)
        self.deadline = NEVER

    @property
    def abort_scope(self) -> AbortScope:
        return AbortScope.OURS

    def begin_stop(self, now: float) -> Decoded | None:
        if self.deadline < NEVER:
            return Decoded()
        self.deadline = now + 5
        return Decoded(to_agent=[CANCEL])

    def tick(self, _now: float) -> Decoded:
        return CANCELED

    def connection_lost(self, _now: float) -> Decoded | None:  # type: ignore[override]
        return CANCELED if self.deadline < NEVER else None

    def abort(self) -> Sequence[bytes]:
        raise AssertionError


def running(*decoded: FrameResult, policy: DisconnectPolicy = DisconnectPolicy.ABORT) -> Turn:
    turn = Turn(
        Confirming(["a", *decoded]),
        Limits(on_disconnect=policy, grace_s=30),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)
    turn.frames([b"1"], 1)
    return turn


def test_a_stop_ends_when_the_agent_says_so() -> None:
    turn = running(Decoded(), CANCELED)

    assert sent_types(turn.handle(Stopped(), 2)) == ["cancel"]
    assert turn.outcome is None
    assert turn.handle(Stopped(), 2.5) == NOTHING
    assert turn.frames([b"2"], 3) == NOTHING
    end = turn.frames([b"3"], 4)

    assert verdict(end) == ""
    assert b'"type":"abort"' in end.to_client
    assert turn.outcome is Outcome.CANCELED
    assert turn.handle(Stopped(), 5) == NOTHING


def test_or_when_its_time_is_over() -> None:
    turn = running()
    turn.handle(Stopped(), 2)

    assert turn.deadline == 7
    assert b'"type":"abort"' in turn.handle(Tick(), 7).to_client
    assert turn.outcome is Outcome.CANCELED


def test_or_when_it_leaves() -> None:
    turn = running()
    turn.handle(Stopped(), 2)

    assert b'"type":"abort"' in turn.handle(AgentLeft(), 3).to_client
    assert turn.outcome is Outcome.CANCELED


def test_one_that_has_no_connection_is_stopped_at_once() -> None:
    turn = Turn(Scripted([]), Limits(), UIMessageStream())

    turn.handle(Stopped(), 1)

    assert turn.outcome is Outcome.CANCELED


def test_a_client_that_hangs_up_stops_the_turn_too() -> None:
    turn = running(Decoded(), CANCELED)

    assert sent_types(turn.handle(ClientLeft(), 2)) == ["cancel"]
    assert (turn.outcome, turn.deadline) == (None, 7)
    assert turn.frames([b"2"], 3) == NOTHING
    assert turn.frames([b"3"], 4) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize("ends_by", [Tick(), AgentLeft()])
def test_also_if_the_agent_never_says_so(ends_by: Tick | AgentLeft) -> None:
    turn = running()
    turn.handle(ClientLeft(), 2)

    assert turn.handle(ends_by, 7) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_so_does_the_end_of_the_grace_time() -> None:
    turn = running(policy=DisconnectPolicy.GRACE)
    assert turn.handle(ClientLeft(), 2) == NOTHING

    assert sent_types(turn.handle(Tick(), 32)) == ["cancel"]
    assert turn.outcome is None
    turn.handle(Tick(), 37)
    assert turn.outcome is Outcome.CLIENT_GONE
