"""When the response headers go out."""

import itertools

import pytest

from turnwire.core.turn.headers import Headers, decide, hold_for_init
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome

STATUSES = {Outcome.REFUSED, Outcome.NOTHING}


@pytest.mark.parametrize(
    ("is_connected", "is_accepted", "is_hold_over", "decision"),
    [
        (False, False, False, Headers.HOLD),
        (False, False, True, Headers.HOLD),
        (False, True, False, Headers.HOLD),
        (False, True, True, Headers.HOLD),
        (True, False, False, Headers.HOLD),
        (True, False, True, Headers.SEND),
        (True, True, False, Headers.SEND),
        (True, True, True, Headers.SEND),
    ],
)
def test_a_running_stream_sends_them_once_it_cannot_be_rejected(
    *, is_connected: bool, is_accepted: bool, is_hold_over: bool, decision: Headers
) -> None:
    decided = decide(
        None, is_connected=is_connected, is_accepted=is_accepted, is_hold_over=is_hold_over
    )

    assert decided is decision


@pytest.mark.parametrize("outcome", Outcome)
def test_a_stream_that_is_over_sends_them_unless_it_is_an_http_status(outcome: Outcome) -> None:
    expected = Headers.STATUS if outcome in STATUSES else Headers.SEND
    for flags in itertools.product([False, True], repeat=3):
        names = ("is_connected", "is_accepted", "is_hold_over")
        assert decide(outcome, **dict(zip(names, flags, strict=True))) is expected


def test_a_request_that_waits_for_init_holds_them_for_longer_than_init_may_take() -> None:
    assert hold_for_init(Limits(), 5.0).hold_s == 10.0
