"""What a stream is said to have ended as, whose client never had its end."""

import pytest

from turnwire.core.outcome import Outcome, missed


@pytest.mark.parametrize("outcome", [Outcome.COMPLETED, Outcome.ASKED])
def test_all_is_well_is_said_only_of_what_arrived(outcome: Outcome) -> None:
    assert missed(outcome, stalled=True) is Outcome.SLOW_CLIENT
    assert missed(outcome, stalled=False) is Outcome.CLIENT_GONE


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.CANCELED, Outcome.SILENT, None])
def test_what_else_went_wrong_is_said_all_the_same(outcome: Outcome | None) -> None:
    assert missed(outcome, stalled=True) is outcome
