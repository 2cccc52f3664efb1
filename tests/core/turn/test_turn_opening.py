"""Frames that came in one read with the agent's yes: one output for both."""

import pytest
from msgspec import structs

from support.serial_protocol import Serial, SerialLater
from support.watching import Watching
from turnwire.core.agent import Decoded
from turnwire.core.rejection import Rejection
from turnwire.core.turn.inputs import ClientLeft, Frames, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.observer import TurnObserver
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import NO_OUTPUT, Output, joined
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream


class Refusing(Serial):
    """A wire whose agent refuses with the first byte."""

    def connection_opened(self, _now: float) -> Decoded:
        return Decoded(rejection=Rejection.UNKNOWN)


def a_turn(protocol: Serial, *observers: TurnObserver) -> Turn:
    return Turn(protocol, Limits(), UIMessageStream(), observers=observers)


@pytest.mark.parametrize(
    "frames", [(), (b"Hello",), (b"Hello", b"ask"), (b"again",), (b"Hello", b"end")]
)
def test_the_output_is_that_of_both_in_one_write(frames: tuple[bytes, ...]) -> None:
    apart, at_once = a_turn(Serial()), a_turn(Serial())
    both = joined(apart.handle(Opened(), 1), lambda: apart.frames(frames, 1))

    output = at_once.frames(frames, 1, opens=True)

    assert structs.replace(output, to_agent=tuple(output.to_agent)) == both
    assert b'"start"' in output.to_client
    assert at_once.outcome is apart.outcome
    at_once.handle(Tick(), 2)
    apart.handle(Tick(), 2)
    assert at_once.deadline == apart.deadline


def test_a_deadline_that_no_frame_sets_is_set_by_the_next_tick() -> None:
    apart, at_once = a_turn(Serial()), a_turn(Serial())
    apart.handle(Opened(), 1)
    at_once.frames((b"Hello",), 1, opens=True)

    assert at_once.deadline == 1
    at_once.handle(Tick(), at_once.deadline)
    assert at_once.deadline == apart.deadline > 1


@pytest.mark.parametrize("observers", [(), (Watching(),)])
def test_the_frames_of_a_connection_that_only_leads_to_another_are_nobodys(
    observers: tuple[TurnObserver, ...],
) -> None:
    protocol = SerialLater()
    turn = a_turn(protocol, *observers)

    output = turn.frames((b"Hello", b"end"), 1, opens=True)

    assert output.connect is not None
    assert output.to_client == b""
    assert turn.outcome is None
    turn.frames((b"Hello",), 2, opens=True)
    assert protocol.opened == 2


def test_an_agent_that_refuses_with_the_first_byte_is_heeded() -> None:
    turn = a_turn(Refusing())

    assert turn.frames((b"Hello",), 1, opens=True) == NO_OUTPUT
    assert turn.outcome is Outcome.REFUSED
    assert turn.rejection is Rejection.UNKNOWN


def test_nothing_opens_for_a_client_that_left() -> None:
    turn = a_turn(Serial())
    turn.handle(ClientLeft(), 1)

    assert turn.frames((b"Hello",), 2, opens=True) == NO_OUTPUT


def test_a_connection_that_is_open_is_not_opened_again() -> None:
    protocol = Serial()
    turn = a_turn(protocol)
    turn.handle(Opened(), 1)

    assert b"Hello" in turn.frames((b"Hello",), 2, opens=True).to_client
    assert protocol.opened == 1
    assert protocol.opened == 1


def test_an_observer_is_told_of_both() -> None:
    watching = Watching()
    turn = a_turn(Serial(), watching)

    output = turn.frames((b"Hello",), 1, opens=True)

    assert [each for each, _ in watching.inputs] == [Opened(), Frames((b"Hello",))]
    assert output.to_client == b"".join(each.to_client for each, _ in watching.outputs)


def test_a_joined_output_has_what_both_send() -> None:
    first, second = Output(b"a", [b"1"]), Output(b"b", [b"2"])

    assert joined(first, lambda: second) == Output(b"ab", (b"1", b"2"))
    assert joined(NO_OUTPUT, lambda: second) is second
