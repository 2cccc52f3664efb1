"""The states of a client: how one leads to another, and how long each may last."""

from collections.abc import Callable

import pytest

from turnwire.core.agent import NEVER
from turnwire.core.turn.client_state import Client, ClientState
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome

LIMITS = Limits(stall_s=20, grace_s=30, queue_wait_s=600)


def state(*happened: Callable[[ClientState], object]) -> ClientState:
    """The state of a client after this, in order."""
    client = ClientState(LIMITS)
    for step in happened:
        step(client)
    return client


def blocked(client: ClientState) -> None:
    client.mark_blocked(100)


def progress(client: ClientState) -> None:
    client.mark_progress(110)


def unblocked(client: ClientState) -> None:
    client.mark_unblocked()


def detached(client: ClientState) -> None:
    client.mark_detached(100)


def gone(client: ClientState) -> None:
    client.mark_gone(100)


@pytest.mark.parametrize(
    ("happened", "client", "deadline"),
    [
        ([], Client.READING, NEVER),
        ([progress], Client.READING, NEVER),
        ([unblocked], Client.READING, NEVER),
        ([blocked], Client.BLOCKED, 120),
        ([blocked, progress], Client.BLOCKED, 130),
        ([blocked, lambda c: c.mark_blocked(115)], Client.BLOCKED, 120),
        ([blocked, unblocked], Client.READING, NEVER),
        ([detached], Client.DETACHED, 130),
        ([detached, blocked, progress, unblocked], Client.DETACHED, 130),
        ([ClientState.mark_absent], Client.ABSENT, NEVER),
        ([ClientState.mark_absent, blocked, progress, unblocked], Client.ABSENT, NEVER),
        ([blocked, ClientState.mark_absent], Client.ABSENT, NEVER),
        ([detached, ClientState.mark_followed], Client.DETACHED, NEVER),
        ([detached, lambda c: c.mark_unfollowed(110)], Client.DETACHED, 130),
        (
            [detached, ClientState.mark_followed, lambda c: c.mark_unfollowed(150)],
            Client.DETACHED,
            180,
        ),
        ([gone], Client.GONE, 700),
        ([gone, blocked, progress, unblocked], Client.GONE, 700),
        ([detached, lambda c: c.mark_gone(130)], Client.GONE, 730),
    ],
)
def test_what_happens_to_a_client(
    happened: list[Callable[[ClientState], object]], client: Client, deadline: float
) -> None:
    made = state(*happened)

    assert (made.client, made.deadline) == (client, deadline)
    assert made.has_left is (client in {Client.DETACHED, Client.ABSENT, Client.GONE})


def test_it_is_known_since_when_others_follow() -> None:
    client = state(detached)

    assert [client.mark_followed() for _ in range(2)] == [True, False]
    client.mark_unfollowed(150)
    assert client.mark_followed()


def test_a_pause_counts_from_its_first_moment() -> None:
    client = state(blocked, lambda c: c.mark_blocked(115), progress)

    assert client.mark_unblocked() == 100
    assert client.mark_unblocked() is None


@pytest.mark.parametrize(
    ("happened", "has_begun", "outcome"),
    [
        ([], True, Outcome.COMPLETED),
        ([blocked], False, Outcome.COMPLETED),
        ([detached], True, Outcome.CLIENT_GONE),
        ([detached], False, Outcome.ABANDONED),
        ([ClientState.mark_absent], True, Outcome.CLIENT_GONE),
        ([gone], True, Outcome.CLIENT_GONE),
        ([gone], False, Outcome.ABANDONED),
        ([lambda c: c.mark_gone(100, Outcome.SLOW_CLIENT)], False, Outcome.SLOW_CLIENT),
    ],
)
def test_how_the_client_left_is_the_outcome(
    happened: list[Callable[[ClientState], object]], outcome: Outcome, *, has_begun: bool
) -> None:
    assert state(*happened).outcome(Outcome.COMPLETED, has_begun=has_begun) is outcome
