"""What the streams of one session share: claims, the prompt lock, watchers."""

from contextlib import suppress
from functools import partial

from turnwire.core.session_group import Member, SessionGroup, SessionGroups


def test_an_id_is_claimed_once() -> None:
    group = SessionGroup()
    one, other = Member(group), Member(group)

    assert one.claim("P1")
    assert one.claim("P1")
    assert not other.claim("P1")
    assert other.claim("P2")


def test_a_claim_outlives_its_member() -> None:
    """The other stream's connection may lag, and get the echo after the first stream is over."""
    group = SessionGroup()
    one, other = Member(group), Member(group)
    one.claim("P1")

    one.leave()

    assert not other.claim("P1")


def test_claims_are_bounded() -> None:
    group = SessionGroup()
    one, other = Member(group), Member(group)
    for number in range(Member.CLAIMS_MAX + 1):
        one.claim(str(number))

    assert other.claim("0"), "the oldest is forgotten"
    assert not other.claim("2")


def test_the_prompt_lock_goes_round_in_the_order_of_asking() -> None:
    group = SessionGroup()
    members = [Member(group) for _ in range(3)]
    news: list[int] = []
    for number, member in enumerate(members):
        member.on_change = partial(news.append, number)

    assert [member.acquire() for member in members] == [True, False, False]
    assert [member.acquire() for member in members] == [True, False, False], (
        "asking twice changes nothing"
    )
    members[1].leave()
    assert not news, "leaving the queue does not move it"
    members[0].release()

    assert news == [2]
    assert members[2].acquire()
    assert not members[0].acquire()


def test_users_get_the_prompt_lock_in_turn() -> None:
    """Each other user waits for at most one prompt of a user, however many that one has queued."""
    group = SessionGroup()
    line = [("ann", Member(group)) for _ in range(3)]
    line += [("bob", Member(group)), ("bob", Member(group)), ("cat", Member(group))]
    members = dict(enumerate(line))
    for user, member in line:
        member.acquire(user)

    order: list[tuple[str, int]] = []
    while group.lock_holder is not None:
        number = next(n for n, (_, member) in members.items() if member is group.lock_holder)
        order.append((members[number][0], number))
        members[number][1].release()

    assert order == [("ann", 0), ("bob", 3), ("cat", 5), ("ann", 1), ("bob", 4), ("ann", 2)]
    assert not group.rounds


def test_who_comes_late_waits_for_no_more_than_the_round() -> None:
    group = SessionGroup()
    anns = [Member(group) for _ in range(20)]
    for member in anns:
        member.acquire("ann")
    for member in anns[:7]:
        member.release()
    bob, again = Member(group), Member(group)
    assert not bob.acquire("bob")
    again.acquire("bob")

    anns[7].release()

    assert bob.acquire("bob")
    bob.release()
    assert anns[8].acquire("ann"), "a waiting member is not passed over for ever"
    anns[8].release()
    assert again.acquire("bob")
    assert group.rounds.keys() == {"ann", "bob"}
    again.release()
    assert anns[9].acquire("ann")
    assert group.rounds.keys() == {"ann"}, "of others nothing is kept"


def test_to_release_a_lock_that_is_not_held_does_nothing() -> None:
    group = SessionGroup()
    one, other = Member(group), Member(group)
    one.acquire()

    other.release()

    assert one.acquire()


def test_members_that_follow_the_same_turn_watch_it() -> None:
    group = SessionGroup()
    one, other, third = Member(group), Member(group), Member(group)
    news: list[str] = []
    one.on_change = lambda: news.append("one")
    one.follow("p1")
    one.follow("t1")

    third.follow("t2")
    assert not one.has_other_watchers
    other.follow("t1")

    assert news == ["one"]
    assert one.has_other_watchers
    assert other.has_other_watchers
    assert not third.has_other_watchers
    other.leave()
    assert not one.has_other_watchers


def test_a_member_without_a_client_is_not_a_watcher() -> None:
    group = SessionGroup()
    one, unwatched = Member(group), Member(group)
    news: list[str] = []
    one.on_change = lambda: news.append("one")
    unwatched.follow("t1")
    one.follow("t1")

    unwatched.unwatched()
    unwatched.follow("t2")
    assert not one.has_other_watchers
    Member(group).follow("t1")

    assert one.has_other_watchers
    assert not unwatched.has_other_watchers
    assert news == ["one"], "a later follower counts"
    assert list(group.followers) == ["t1"]


def test_a_group_lasts_as_long_as_it_has_members() -> None:
    session_groups = SessionGroups()
    with session_groups.member("s1") as one:
        with session_groups.member("s1") as other, session_groups.member("s2") as elsewhere:
            assert one.claim("P1")
            assert not other.claim("P1")
            assert elsewhere.claim("P1")
            assert len(session_groups) == 2
        assert len(session_groups) == 1
    assert len(session_groups) == 0
    with session_groups.member("s1") as later:
        assert later.claim("P1")


def test_a_stream_that_fails_releases_the_prompt_lock() -> None:
    session_groups = SessionGroups()
    news: list[str] = []
    with session_groups.member("s1") as waiting:
        waiting.on_change = lambda: news.append("mine")
        with suppress(ZeroDivisionError), session_groups.member("s1") as holder:
            assert holder.acquire()
            assert not waiting.acquire()
            _ = 1 / 0

        assert news == ["mine"]
        assert waiting.acquire()


def test_other_prompts_are_those_of_the_other_members() -> None:
    group = SessionGroup()
    one, other, quiet = Member(group), Member(group), Member(group)
    one.prompt_channel, other.prompt_channel = "here", "there"

    assert one.other_prompts == ["there"]
    assert quiet.other_prompts == ["here", "there"]


def test_only_a_single_follower_is_notified_of_another() -> None:
    group = SessionGroup()
    members = [Member(group) for _ in range(3)]
    news: list[int] = []
    for number, member in enumerate(members):
        member.on_change = partial(news.append, number)
        member.follow("t1")
        member.follow("t1")

    assert news == [0]


def test_a_turn_that_starts_over_for_ever_is_followed_within_bounds() -> None:
    group = SessionGroup()
    one, other = Member(group), Member(group)
    for number in range(Member.FOLLOWED_MAX + 1):
        one.follow(str(number))

    other.follow("0")
    assert not one.has_other_watchers, "the oldest is forgotten"
    other.follow("2")
    assert one.has_other_watchers
    one.leave()
    other.leave()
    assert not group.followers


def test_a_connection_of_an_operation_is_not_a_return() -> None:
    session_groups = SessionGroups()
    with session_groups.member("s") as member:
        with session_groups.operation("s", "u1"):
            pass
        member.client_detached("u1")
        with session_groups.operation("s", "u1"), session_groups.operation("s", "u2"):
            assert not member.joined("u1")
        with session_groups.operation("s", "u1"):
            assert not member.joined("u2")
        assert not member.joined("u1"), "the agent may report it late"

        assert member.joined("u1")


def test_a_failed_operation_does_not_count() -> None:
    session_groups = SessionGroups()
    with session_groups.member("s") as member:
        member.client_detached("u1")
        with suppress(ValueError), session_groups.operation("s", "u1"):
            raise ValueError

        assert member.joined("u1")


def test_an_operation_leaves_no_group_behind() -> None:
    session_groups = SessionGroups()
    with session_groups.operation("s", "u1"):
        assert len(session_groups) == 0


def test_a_user_that_is_not_awaited_does_not_return() -> None:
    member = Member()

    assert not member.joined("u1")
    member.client_detached("u1")
    assert not member.joined(None)
    assert member.joined("u1")


def test_groups_know_whether_other_processes_may_have_streams() -> None:
    with SessionGroups().member("s1") as together, SessionGroups(apart=True).member("s1") as apart:
        assert not together.apart
        assert apart.apart
    assert not Member().apart


def test_which_member_claimed_an_id() -> None:
    group = SessionGroup()
    one, other = Member(group), Member(group)
    one.claim("P1")

    assert [member.is_claimed_by_another("P1") for member in (one, other)] == [False, True]
    assert not one.is_claimed_by_another("P2")
