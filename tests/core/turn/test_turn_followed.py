"""A turn that is read in the turn log, and stopped beside its stream."""

import pytest

from support import v2_frames as f
from support.hesitant import ABORT, Hesitant
from support.turns import NOTHING, QUEUED, RUNNING, opened, sent_types, verdict, wait
from turnwire.core.agent import AbortScope
from turnwire.core.turn.inputs import (
    Blocked,
    ClientLeft,
    Drain,
    Input,
    Opened,
    Readers,
    Stopped,
    Tick,
)
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream

GRACE = DisconnectPolicy.GRACE
CONTINUE = DisconnectPolicy.CONTINUE


@pytest.mark.parametrize("reads_first", [True, False])
def test_a_turn_that_needs_its_stream_goes_on_for_a_reader(*, reads_first: bool) -> None:
    turn = opened(*RUNNING, on_disconnect=GRACE, holds_turn=True)
    steps: list[Input] = [Readers(1), ClientLeft()]
    for step in steps if reads_first else reversed(steps):
        assert turn.handle(step, 2) == NOTHING

    assert turn.frames([f.part("b")], 100) == NOTHING
    assert wait(turn, 200) == []
    assert turn.frames([f.finalize()], 201) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_when_the_last_reader_leaves_the_grace_begins_anew() -> None:
    turn = opened(*RUNNING, on_disconnect=GRACE, holds_turn=True)
    turn.handle(ClientLeft(), 2)
    for count, now in ((1, 20), (2, 21), (1, 60), (0, 61), (1, 90), (0, 95)):
        assert turn.handle(Readers(count), now) == NOTHING
    turn.frames([f.part("b")], 110)

    assert [(at, sent_types(act)) for at, act in wait(turn, 500)] == [(125, ["abort"])]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_watcher_that_leaves_begins_it_anew_too() -> None:
    protocol = Hesitant()
    turn = Turn(protocol, Limits(on_disconnect=GRACE, holds_turn=True), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([b"yes"], 1)
    protocol.has_other_watchers = True
    turn.handle(ClientLeft(), 2)
    assert turn.deadline > 100
    protocol.has_other_watchers = False

    turn.handle(Tick(), 50)

    assert turn.deadline == 80


@pytest.mark.parametrize("reads_first", [True, False])
def test_a_turn_that_goes_on_by_itself_needs_no_stream(*, reads_first: bool) -> None:
    turn = opened(*RUNNING, on_disconnect=GRACE)
    steps: list[Input] = [Readers(1), ClientLeft()]
    for step in steps if reads_first else reversed(steps):
        assert turn.handle(step, 2) == NOTHING

    assert turn.outcome is Outcome.CLIENT_GONE


def test_nobody_reads_and_the_grace_ends() -> None:
    turn = opened(*RUNNING, on_disconnect=GRACE, holds_turn=True)
    turn.handle(Readers(1), 1)
    turn.handle(Readers(0), 1)
    turn.handle(ClientLeft(), 2)

    assert [(at, sent_types(act)) for at, act in wait(turn, 500)] == [(32, ["abort"])]


def test_a_reader_does_not_keep_a_turn_that_its_client_aborts() -> None:
    turn = opened(*RUNNING, holds_turn=True)
    turn.handle(Readers(1), 1)

    assert sent_types(turn.handle(ClientLeft(), 2)) == ["abort"]
    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize(("holds_turn", "until"), [(True, 13), (False, 3)])
def test_a_drain_gives_a_turn_that_needs_its_stream_the_drain_time(
    *, holds_turn: bool, until: float
) -> None:
    turn = opened(*RUNNING, on_disconnect=CONTINUE, holds_turn=holds_turn, drain_s=10)
    turn.handle(ClientLeft(), 2)
    turn.handle(Drain(), 3)
    assert (turn.outcome is None) is holds_turn

    wait(turn, until)
    assert turn.outcome is not None


def test_a_stop_ends_the_turn_as_canceled() -> None:
    turn = opened(*RUNNING)

    act = turn.handle(Stopped(), 2)

    assert sent_types(act) == ["abort"]
    assert b'"type":"abort"' in act.to_client
    assert verdict(act) == ""
    assert turn.outcome is Outcome.CANCELED
    assert turn.handle(Stopped(), 3) == NOTHING


def test_a_stop_before_the_turn_began() -> None:
    turn = opened(*QUEUED)

    act = turn.handle(Stopped(), 2)

    assert turn.outcome is Outcome.CANCELED
    assert b'"type":"abort"' in act.to_client


def test_a_stop_during_the_dial() -> None:
    turn = Turn(Hesitant(), Limits(), UIMessageStream())

    act = turn.handle(Stopped(), 1)

    assert turn.outcome is Outcome.CANCELED
    assert b'"type":"abort"' in act.to_client
    assert turn.handle(Opened(), 2) == NOTHING


class Stale(Hesitant):
    """Notes that what it knows is out of date."""

    abort_scope = AbortScope.OURS
    is_stale = False

    def mark_stale(self) -> None:
        self.is_stale = True


def test_a_stop_while_the_agent_is_not_read() -> None:
    protocol = Stale()
    turn = Turn(protocol, Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([b"yes"], 1)
    turn.handle(Blocked(), 2)

    assert turn.handle(Stopped(), 3).to_agent == [ABORT]
    assert protocol.is_stale


def test_a_stop_of_a_turn_without_a_client() -> None:
    turn = opened(*RUNNING, on_disconnect=CONTINUE)
    turn.handle(ClientLeft(), 2)

    assert sent_types(turn.handle(Stopped(), 3)) == ["abort"]
    assert turn.outcome is Outcome.CLIENT_GONE
    assert turn.handle(Tick(), 4) == NOTHING
