"""The outcome of a stream: the whole table."""

import pytest

from turnwire.core.events import Reason
from turnwire.core.rejection import Rejection
from turnwire.core.turn.outcome import (
    VERDICTS,
    Outcome,
    final_outcome,
    outcome_of,
    outcome_without_client,
    undelivered_outcome,
)


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.ASKED])
def test_success_is_reported_only_if_the_end_arrived(outcome: Outcome) -> None:
    assert undelivered_outcome(outcome, stalled=True) is Outcome.SLOW_CLIENT
    assert undelivered_outcome(outcome, stalled=False) is Outcome.CLIENT_GONE


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.CANCELED, Outcome.SILENT, None])
def test_any_other_outcome_stays(outcome: Outcome | None) -> None:
    assert undelivered_outcome(outcome, stalled=True) is outcome


@pytest.mark.parametrize(
    ("cut_off", "has_begun", "outcome"),
    [
        (None, False, Outcome.ABANDONED),
        (None, True, Outcome.CLIENT_GONE),
        (Outcome.SLOW_CLIENT, False, Outcome.SLOW_CLIENT),
        (Outcome.SLOW_CLIENT, True, Outcome.SLOW_CLIENT),
        (Outcome.EXPIRED, True, Outcome.EXPIRED),
    ],
)
def test_a_client_that_left_before_the_end(
    cut_off: Outcome | None, outcome: Outcome, *, has_begun: bool
) -> None:
    assert outcome_without_client(cut_off, has_begun=has_begun) is outcome


@pytest.mark.parametrize(
    ("rejection", "before_the_headers", "after_them"),
    [
        (Rejection.NO_TURN, Outcome.NOTHING, Outcome.REFUSED),
        (Rejection.UNNAMED, Outcome.REFUSED, Outcome.UNNAMED),
        *(
            (rejection, Outcome.REFUSED, Outcome.REFUSED)
            for rejection in Rejection
            if rejection not in {Rejection.NO_TURN, Rejection.UNNAMED}
        ),
    ],
)
def test_a_rejected_request(
    rejection: Rejection, before_the_headers: Outcome, after_them: Outcome
) -> None:
    assert outcome_of(rejection, headers_due=False) is before_the_headers
    assert outcome_of(rejection, headers_due=True) is after_them


def test_every_reason_of_the_agent_has_a_verdict() -> None:
    assert set(VERDICTS) == set(Reason)


@pytest.mark.parametrize(
    ("outcome", "dial_status", "final"),
    [
        (None, None, Outcome.CRASHED),
        (None, 401, Outcome.REFUSED),
        (Outcome.COMPLETED, None, Outcome.COMPLETED),
    ],
)
def test_a_stream_without_an_outcome_crashed_or_was_refused(
    outcome: Outcome | None, dial_status: int | None, final: Outcome
) -> None:
    assert final_outcome(outcome, dial_status) is final
