"""Who follows with the stream that asked, and whether its user came back (policy `grace`)."""

import pytest

from dialects.session_agent import frames as f
from dialects.session_agent.talk import conversation, hear
from turnwire.core.events import Alive
from turnwire.core.room import Room, Seat


def joined(user: str | None = f.ME) -> bytes:
    return f.frame("user.joined", userId=user, connectedUsers=[])


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_whoever_follows_the_same_prompt_or_turn_is_company(revision: str) -> None:
    for followed in (f.PROMPT, f.TURN):
        room = Room()
        Seat(room).follow(followed)
        made = conversation(f.init(revision), seat=Seat(room))
        assert not made.accompanied

        hear(made, f.user(), f.begin())

        assert made.accompanied


@pytest.mark.parametrize("revision", ["A", "V"])
def test_whoever_follows_the_same_queued_prompt_is_company(revision: str) -> None:
    room = Room()
    Seat(room).follow(f.PROMPT)

    made = conversation(f.init(revision), *f.queued(revision), seat=Seat(room))

    assert made.accompanied


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_user_who_opens_a_socket_after_leaving_came_back(revision: str) -> None:
    made = conversation(f.init(revision), joined(), joined(), *f.running(revision)[1:])
    assert not made.accompanied

    made.unattended()

    assert not made.accompanied
    assert made.hear(joined(), 1) == (Alive(),)
    assert made.accompanied


def test_our_own_socket_may_be_told_late_and_is_not_our_user_coming_back() -> None:
    made = conversation(*f.running("V"))
    made.unattended()

    assert made.hear(joined(), 1) == ()
    assert not made.accompanied
    made.hear(joined(), 2)
    assert made.accompanied


@pytest.mark.parametrize("user", ["u2", None])
def test_others_who_come_are_not_our_user(user: str | None) -> None:
    made = conversation(*f.running("V"), joined())
    made.unattended()

    assert made.hear(joined(user), 1) == ()
    assert not made.accompanied
