"""Who follows with the stream that asked, and whether its user came back (policy `grace`)."""

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, receive_frame
from turnwire.core.agent import ALIVE
from turnwire.core.session_group import Member, SessionGroup


def joined(user: str | None = f.ME) -> bytes:
    return f.frame("user.joined", userId=user, connectedUsers=[])


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_whoever_follows_the_same_prompt_or_turn_is_company(revision: str) -> None:
    for followed in (f.PROMPT, f.TURN):
        group = SessionGroup()
        Member(group).follow(followed)
        made = conversation(f.init(revision), member=Member(group))
        assert not made.has_other_watchers

        receive_frame(made, f.user(), f.begin())

        assert made.has_other_watchers


@pytest.mark.parametrize("revision", ["A", "V"])
def test_whoever_follows_the_same_queued_prompt_is_company(revision: str) -> None:
    group = SessionGroup()
    Member(group).follow(f.PROMPT)

    made = conversation(f.init(revision), *f.queued(revision), member=Member(group))

    assert made.has_other_watchers


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_user_who_opens_a_socket_after_leaving_came_back(revision: str) -> None:
    made = conversation(f.init(revision), joined(), joined(), *f.running(revision)[1:])
    assert not made.has_other_watchers

    made.client_detached()

    assert not made.has_other_watchers
    assert made.receive_frame(joined(), 1) == ALIVE
    assert made.has_other_watchers


def test_our_own_socket_may_be_told_late_and_is_not_our_user_coming_back() -> None:
    made = conversation(*f.running("V"))
    made.client_detached()

    assert made.receive_frame(joined(), 1) is None
    assert not made.has_other_watchers
    made.receive_frame(joined(), 2)
    assert made.has_other_watchers


@pytest.mark.parametrize("user", ["u2", None])
def test_others_who_come_are_not_our_user(user: str | None) -> None:
    made = conversation(*f.running("V"), joined())
    made.client_detached()

    assert made.receive_frame(joined(user), 1) is None
    assert not made.has_other_watchers


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_one_whose_client_left_for_good_is_company_for_nobody(revision: str) -> None:
    room = SessionGroup()
    other = Member(room)
    other.follow(f.TURN)
    made = conversation(*f.running(revision), member=Member(room))
    assert other.has_other_watchers

    made.unwatched()

    assert not other.has_other_watchers
