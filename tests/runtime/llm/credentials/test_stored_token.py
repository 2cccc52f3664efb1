import math

import pytest

from turnwire_agent.llm.credentials.secret import Secret
from turnwire_agent.llm.credentials.stored_token import (
    LeaseWatch,
    Step,
    StoredToken,
    Tokens,
    View,
    next_step,
)

NOW = 1_000_000.0
VIEW = View(now=NOW, skew_s=60)


def tokens(
    *, issued_at: float = NOW - 3600, expires_at: float | None = NOW, refresh: bool = True
) -> Tokens:
    return Tokens(
        access_token=Secret("a"),
        refresh_token=Secret("r") if refresh else None,
        issued_at=issued_at,
        expires_at=expires_at,
    )


OVER = tokens()
GOOD = tokens(expires_at=NOW + 100)


@pytest.mark.parametrize(
    ("issued_ago", "life", "left"),
    [
        (0, 3600, 3540),
        (3539, 3600, 1),
        (3540, 3600, 0),
        (4000, 3600, -460),
        (0, 10, 5),  # half of a short life
        (-7200, 3600, 3540),  # the clock was set back: no more than there ever was
    ],
)
def test_what_is_left_of_a_token(issued_ago: float, life: float, left: float) -> None:
    issued_at = NOW - issued_ago

    found = tokens(issued_at=issued_at, expires_at=issued_at + life).left_s(NOW, 60)

    assert found == left


def test_a_token_without_an_end_lasts_and_none_at_all_does_not() -> None:
    assert tokens(expires_at=None).left_s(NOW, 60) == math.inf
    unknown = Tokens(access_token=None, refresh_token=Secret("r"), issued_at=NOW, expires_at=None)
    assert unknown.left_s(NOW, 60) == 0


@pytest.mark.parametrize(
    ("row", "step"),
    [
        (None, Step.LOG_IN),
        (StoredToken(version="v", tokens=GOOD), Step.USE),
        (StoredToken(version="v", tokens=GOOD, lease="l"), Step.USE),
        (StoredToken(version="v", tokens=GOOD, refused=True), Step.USE),
        (StoredToken(version="v", tokens=OVER), Step.REFRESH),
        (StoredToken(version="v", tokens=OVER, lease="l"), Step.WAIT),
        (StoredToken(version="v", tokens=OVER, lease="dead"), Step.REFRESH),
        (StoredToken(version="v", tokens=OVER, refused=True), Step.LOG_IN),
        (StoredToken(version="v", tokens=OVER, refused=True, lease="l"), Step.LOG_IN),
        (StoredToken(version="v", tokens=tokens(refresh=False)), Step.LOG_IN),
        (StoredToken(version="bad", tokens=GOOD), Step.REFRESH),
        (StoredToken(version="bad", tokens=GOOD, lease="l"), Step.WAIT),
        (StoredToken(version="bad", tokens=GOOD, refused=True), Step.LOG_IN),
    ],
)
def test_what_is_next_with_a_refresh_token(row: StoredToken | None, step: Step) -> None:
    view = View(now=NOW, skew_s=60, unwanted="bad", dead_lease="dead")

    assert next_step(row, view) is step


@pytest.mark.parametrize(
    ("row", "step"),
    [
        (None, Step.REFRESH),
        (StoredToken(version="", lease="l"), Step.WAIT),
        (StoredToken(version=""), Step.REFRESH),
        (StoredToken(version="v", tokens=tokens(refresh=False)), Step.REFRESH),
        (StoredToken(version="v", tokens=GOOD), Step.USE),
    ],
)
def test_what_is_next_with_client_credentials(row: StoredToken | None, step: Step) -> None:
    assert next_step(row, View(now=NOW, skew_s=60, needs_refresh_token=False)) is step


def leased(lease: str) -> StoredToken:
    return StoredToken(version="v", tokens=OVER, lease=lease, lease_s=15)


def test_a_lease_is_dead_when_one_has_watched_it_for_its_time() -> None:
    watch = LeaseWatch()

    assert watch.dead_lease(None, 0) == ""
    assert watch.dead_lease(StoredToken(version="v"), 0) == ""
    assert watch.dead_lease(leased("a"), 100) == ""
    assert watch.dead_lease(leased("a"), 114.9) == ""
    assert watch.dead_lease(leased("a"), 115) == "a"


def test_another_lease_is_watched_from_its_beginning() -> None:
    watch = LeaseWatch()
    watch.dead_lease(leased("a"), 100)

    assert watch.dead_lease(leased("b"), 114) == ""
    assert watch.dead_lease(leased("b"), 128) == ""
    assert watch.dead_lease(leased("b"), 129) == "b"
