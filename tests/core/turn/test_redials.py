"""A turn whose next connection cannot be opened: its protocol is asked, if it wants to be."""

import pytest

from support.serial_protocol import Serial, SerialAgain, SerialLater
from support.turns import verdict
from turnwire.core.turn.inputs import AgentLeft, Opened, Refused, Tick, Unreachable
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.redials import FAILED_MAX
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream

LIMITS = Limits(idle_s=20)


def dialling(protocol: Serial) -> Turn:
    """A turn that waits for its second connection."""
    turn = Turn(protocol, LIMITS, UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([b"Hello", b"next"], 1)
    assert turn.handle(AgentLeft(), 2).connect is not None
    return turn


@pytest.mark.parametrize("end", [Unreachable(), Refused()])
def test_a_protocol_may_dial_again_at_once(end: Unreachable | Refused) -> None:
    protocol = SerialAgain()
    turn = dialling(protocol)

    again = turn.handle(end, 3).connect

    assert again is not None
    assert again.body == b"again"
    turn.handle(Opened(), 4)
    assert b'"delta":" world"' in turn.frames([b" world", b"end"], 5).to_client
    assert turn.outcome is Outcome.COMPLETED


def test_it_may_wait_before_it_dials_again() -> None:
    turn = dialling(SerialAgain(5))

    assert turn.handle(Unreachable(), 3).connect is None
    assert turn.deadline == 8
    later = turn.handle(Tick(), 8).connect

    assert later is not None
    assert later.body == b"later"


def test_so_many_dials_may_fail_in_a_row() -> None:
    protocol = SerialAgain()
    turn = dialling(protocol)
    for _ in range(2):
        for _ in range(FAILED_MAX):
            assert turn.handle(Unreachable(), 3).connect is not None
        turn.handle(Opened(), 4)
        turn.frames([b"again"], 4)
    protocol.failed = 0
    output = turn.handle(Unreachable(), 5)
    while output.connect is not None:
        output = turn.handle(Unreachable(), 5)

    assert verdict(output) == "Connection failed"
    assert turn.outcome is Outcome.UNREACHABLE
    assert protocol.failed == FAILED_MAX + 1


def test_the_first_dial_and_an_open_connection_are_not_asked_for() -> None:
    first = SerialAgain()
    turn = Turn(first, LIMITS, UIMessageStream())
    turn.handle(Unreachable(), 1)
    second = SerialAgain()
    late = Turn(second, LIMITS, UIMessageStream())
    late.handle(Opened(), 0)
    late.handle(Refused(), 1)

    assert (first.failed, second.failed) == (0, 0)
    assert turn.outcome is Outcome.UNREACHABLE
    assert late.outcome is Outcome.AGENT_REFUSED


def test_a_turn_whose_response_has_not_begun_is_not_asked() -> None:
    protocol = SerialLater()
    turn = Turn(protocol, LIMITS, UIMessageStream())
    assert turn.handle(Opened(), 0).connect is not None

    turn.handle(Unreachable(), 1)

    assert protocol.failed == 0
    assert turn.outcome is Outcome.UNREACHABLE


def test_a_turn_that_is_over_is_not_asked() -> None:
    protocol = SerialAgain()
    turn = dialling(protocol)
    turn.crashed(3)

    turn.handle(Unreachable(), 4)

    assert protocol.failed == 0
    assert turn.outcome is Outcome.CRASHED
