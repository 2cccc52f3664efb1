"""Which end of a stream aborts its turn: the whole table."""

import itertools

import pytest

from turnwire.core.agent import AbortScope
from turnwire.core.turn.abort import (
    Decision,
    when_client_is_gone,
    when_client_is_parted,
    when_client_left,
    when_ended,
)
from turnwire.core.turn.client_state import Client
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome


@pytest.mark.parametrize(
    ("policy", "before_the_dial", "after_it"),
    [
        (DisconnectPolicy.ABORT, Decision.LEAVE, Decision.ABORT),
        (DisconnectPolicy.GRACE, Decision.LEAVE, Decision.GRACE),
        (DisconnectPolicy.CONTINUE, Decision.CONTINUE, Decision.CONTINUE),
        (DisconnectPolicy.LET_GO, Decision.LEAVE, Decision.LEAVE),
    ],
)
def test_a_client_that_disconnects(
    policy: DisconnectPolicy, before_the_dial: Decision, after_it: Decision
) -> None:
    limits = Limits(on_disconnect=policy)
    assert when_client_left(limits, is_connected=False) is before_the_dial
    assert when_client_left(limits, is_connected=True) is after_it


@pytest.mark.parametrize(
    ("policy", "before_the_dial", "parted"),
    [
        (DisconnectPolicy.ABORT, Decision.LEAVE, Decision.ABORT),
        (DisconnectPolicy.GRACE, Decision.GRACE, Decision.GRACE),
        (DisconnectPolicy.CONTINUE, Decision.CONTINUE, Decision.CONTINUE),
        (DisconnectPolicy.LET_GO, Decision.LEAVE, Decision.ABORT),
    ],
)
def test_a_turn_that_the_log_keeps_outlives_its_client(
    policy: DisconnectPolicy, before_the_dial: Decision, parted: Decision
) -> None:
    kept, other = (Limits(on_disconnect=policy, is_kept=is_kept) for is_kept in (True, False))

    assert when_client_left(kept, is_connected=False) is before_the_dial
    assert when_client_is_parted(kept) is parted
    assert when_client_is_parted(other) is Decision.ABORT


@pytest.mark.parametrize(
    ("scope", "decision"),
    [
        (AbortScope.NONE, Decision.ABORT),
        (AbortScope.OURS, Decision.ABORT),
        (AbortScope.SHARED, Decision.WAIT),
    ],
)
def test_a_client_that_is_gone_never_aborts_the_turn_of_another(
    scope: AbortScope, decision: Decision
) -> None:
    assert when_client_is_gone(scope) is decision


ALWAYS = {Outcome.UNSOUND, Outcome.SLOW_CLIENT, Outcome.CANCELED}
TIMERS = {Outcome.SILENT, Outcome.TOO_LONG}


@pytest.mark.parametrize("outcome", Outcome)
def test_the_gateway_ends_a_stream(outcome: Outcome) -> None:
    for policy, client in itertools.product(DisconnectPolicy, Client):
        expected = (
            outcome in ALWAYS
            or (outcome in TIMERS and client is not Client.ABSENT)
            or (outcome is Outcome.EXPIRED and policy is not DisconnectPolicy.CONTINUE)
        )
        assert when_ended(outcome, policy, client) is expected, (policy, client)
