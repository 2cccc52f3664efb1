from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnwire_agent.llm.faults import TRANSIENT, Fault, FaultKind, of_response
from turnwire_agent.llm.retry import NEVER, GiveUp, Retries, Wait, after

RETRIES = Retries()
OVERLOADED = Fault(kind="overloaded", status=503)


def test_the_wait_is_anything_up_to_a_bound_that_doubles() -> None:
    retries = Retries(attempts=9)
    for attempts, longest_s in enumerate((0.5, 1, 2, 4, 8, 8), start=1):
        for random in (0.0, 0.25, 0.999):
            decision = after(OVERLOADED, attempts, began=False, random=random, retries=retries)

            assert decision == Wait(random * longest_s)


def test_there_are_three_attempts() -> None:
    decisions = [
        after(OVERLOADED, attempts, began=False, random=0.5, retries=RETRIES)
        for attempts in (1, 2, 3, 4)
    ]

    assert [type(each) for each in decisions] == [Wait, Wait, GiveUp, GiveUp]
    assert decisions[2] == GiveUp("attempts")


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_these_are_tried_again(status: int) -> None:
    fault = of_response(status, {}, b"", 0)

    assert isinstance(after(fault, 1, began=False, random=0.5, retries=RETRIES), Wait)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 501])
def test_these_are_not(status: int) -> None:
    fault = of_response(status, {}, b"", 0)

    assert after(fault, 1, began=False, random=0.5, retries=RETRIES) == GiveUp("settled")


@pytest.mark.parametrize("status", sorted(NEVER))
def test_a_status_outweighs_a_body_that_says_otherwise(status: int) -> None:
    fault = of_response(status, {}, b'{"error": {"type": "overloaded_error"}}', 0)

    assert fault.transient
    assert after(fault, 1, began=False, random=0.5, retries=RETRIES) == GiveUp("settled")


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_kind_has_a_verdict(kind: FaultKind) -> None:
    decision = after(Fault(kind=kind), 1, began=False, random=0.5, retries=RETRIES)

    assert isinstance(decision, Wait) == (kind in TRANSIENT)


def test_what_has_told_something_is_not_called_again() -> None:
    assert after(OVERLOADED, 1, began=True, random=0.5, retries=RETRIES) == GiveUp("begun")


@pytest.mark.parametrize(("asked_s", "seconds"), [(0.02, 0.02), (7.0, 7.0), (60.0, 60.0)])
def test_what_the_provider_asks_is_waited_to_the_letter(asked_s: float, seconds: float) -> None:
    fault = Fault(kind="rate-limited", status=429, retry_after_s=asked_s)

    assert after(fault, 1, began=False, random=0.5, retries=RETRIES) == Wait(seconds)


def test_a_wait_of_nothing_is_not_taken_at_its_word() -> None:
    fault = Fault(kind="rate-limited", status=429, retry_after_s=0.0)

    assert after(fault, 1, began=False, random=0.5, retries=RETRIES) == Wait(0.25)


def test_a_long_wait_fails_at_once_and_is_told() -> None:
    fault = Fault(kind="rate-limited", status=429, retry_after_s=60.1)

    assert after(fault, 1, began=False, random=0.5, retries=RETRIES) == GiveUp("long-wait")


@given(st.floats(0, 1, exclude_max=True), st.integers(1, 5000))
def test_no_wait_is_longer_than_the_settings_say(random: float, attempts: int) -> None:
    retries = Retries(attempts=9000)
    decision = after(OVERLOADED, attempts, began=False, random=random, retries=retries)

    assert isinstance(decision, Wait)
    assert 0 <= decision.seconds < retries.backoff_s
