"""A turn that the turn log keeps goes on there, whatever separates it from its client."""

from collections.abc import Sequence

import pytest

from support import v2_frames as f
from support.hesitant import Hesitant
from support.turns import NOTHING, RUNNING, opened, sent_types, verdict, wait
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    ClientStalled,
    Held,
    Input,
    Opened,
    Progressed,
    Readers,
    Tick,
    Unreachable,
)
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream

GRACE, CONTINUE = DisconnectPolicy.GRACE, DisconnectPolicy.CONTINUE
CUT = Output(disconnect_client=True)

SLOW: tuple[Sequence[Input], ...] = (
    [ClientStalled()],
    [Blocked(), Held(2_000_000)],
    [Blocked(), Progressed(2_000_000)],
)


def kept(policy: DisconnectPolicy, *frames: bytes, **limits: float) -> Turn:
    return opened(*frames, on_disconnect=policy, holds_turn=True, is_kept=True, **limits)


@pytest.mark.parametrize("slow", SLOW, ids=["stalled", "much waits", "much waits still"])
def test_a_client_that_does_not_read_loses_its_connection_alone(slow: Sequence[Input]) -> None:
    turn = kept(CONTINUE, *RUNNING)

    *_, act = [turn.handle(each, 2) for each in slow]

    assert act == CUT
    assert turn.frames([f.part("b")], 3) == NOTHING
    assert turn.handle(ClientLeft(), 4) == NOTHING
    assert turn.handle(ClientStalled(), 4) == NOTHING
    assert turn.frames([f.finalize()], 100) == NOTHING
    assert turn.outcome is Outcome.SLOW_CLIENT


def test_so_does_one_that_takes_nothing_for_the_stall_time() -> None:
    turn = kept(CONTINUE, *RUNNING)
    turn.handle(Blocked(), 2)

    ((at, act), *_) = wait(turn, 25)

    assert (at, act) == (22, CUT)
    assert turn.outcome is None


def test_under_grace_it_may_come_back() -> None:
    turn = kept(GRACE, *RUNNING)
    assert turn.handle(ClientStalled(), 2) == CUT
    turn.handle(Readers(1), 20)
    turn.frames([f.part("b")], 100)
    assert turn.outcome is None
    turn.handle(Readers(0), 110)

    assert [(at, sent_types(act)) for at, act in wait(turn, 500)] == [(140, ["abort"])]
    assert turn.outcome is Outcome.SLOW_CLIENT


@pytest.mark.parametrize(
    ("policy", "is_kept"), [(DisconnectPolicy.ABORT, True), (CONTINUE, False), (GRACE, False)]
)
def test_any_other_turn_of_a_slow_client_is_aborted(
    policy: DisconnectPolicy, *, is_kept: bool
) -> None:
    turn = opened(*RUNNING, on_disconnect=policy, holds_turn=True, is_kept=is_kept)

    act = turn.handle(ClientStalled(), 2)

    assert (sent_types(act), turn.outcome) == (["abort"], Outcome.SLOW_CLIENT)


@pytest.mark.parametrize("policy", [GRACE, CONTINUE])
def test_a_token_that_expires_ends_the_response_alone(policy: DisconnectPolicy) -> None:
    turn = kept(policy, *RUNNING, expires_at=7)

    ((at, act), *_) = wait(turn, 10)

    assert (at, verdict(act), sent_types(act)) == (7, "The token has expired", [])
    assert act.disconnect_client
    assert act.ends_response
    assert turn.outcome is None
    assert turn.frames([f.part("b"), f.finalize()], 8) == NOTHING
    assert turn.outcome is Outcome.EXPIRED


def test_a_token_that_expires_while_the_client_does_not_read() -> None:
    turn = kept(CONTINUE, *RUNNING, expires_at=7)
    turn.handle(Blocked(), 2)

    act = turn.handle(Tick(), 7)

    assert (act.disconnect_client, turn.outcome) == (True, None)
    assert turn.deadline > 27, "the client is no longer waited for"


def test_a_token_that_expires_before_the_headers() -> None:
    turn = Turn(
        Hesitant(), Limits(on_disconnect=CONTINUE, is_kept=True, expires_at=3), UIMessageStream()
    )
    turn.handle(Opened(), 0)

    assert turn.handle(Tick(), 3) == CUT
    turn.frames([b"yes"], 4)
    assert turn.outcome is None
    turn.frames([b"end"], 5)
    assert turn.outcome is Outcome.EXPIRED


def test_under_abort_a_token_that_expires_ends_the_turn() -> None:
    turn = kept(DisconnectPolicy.ABORT, *RUNNING, expires_at=7)

    act = turn.handle(Tick(), 7)

    assert (sent_types(act), turn.outcome) == (["abort"], Outcome.EXPIRED)
    assert not act.disconnect_client


def dialling(policy: DisconnectPolicy) -> Turn:
    limits = Limits(on_disconnect=policy, holds_turn=True, is_kept=True)
    return Turn(Hesitant(), limits, UIMessageStream())


@pytest.mark.parametrize("policy", [GRACE, CONTINUE])
def test_a_client_that_leaves_before_the_agent_answers(policy: DisconnectPolicy) -> None:
    turn = dialling(policy)

    assert turn.handle(ClientLeft(), 1) == NOTHING
    assert turn.outcome is None
    turn.handle(Opened(), 20)
    turn.frames([b"yes", b"end"], 21)
    assert turn.outcome is Outcome.CLIENT_GONE


def test_nobody_comes_back_before_the_agent_answers() -> None:
    turn = dialling(GRACE)
    turn.handle(ClientLeft(), 1)
    assert turn.deadline == 31

    turn.handle(Tick(), 31)

    assert turn.outcome is Outcome.CLIENT_GONE
    assert turn.handle(Opened(), 32) == NOTHING


@pytest.mark.parametrize("ends", [Unreachable(), AgentLeft()])
def test_the_agent_never_answers_and_nobody_is_there(ends: Input) -> None:
    turn = dialling(GRACE)
    turn.handle(ClientLeft(), 1)

    turn.handle(ends, 2)

    assert turn.outcome is Outcome.ABANDONED


def test_under_abort_a_client_that_leaves_before_the_agent_answers_ends_the_turn() -> None:
    turn = dialling(DisconnectPolicy.ABORT)

    turn.handle(ClientLeft(), 1)

    assert turn.outcome is Outcome.CLIENT_GONE
