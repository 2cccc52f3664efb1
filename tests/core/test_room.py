"""What the streams of one session share: claims, the floor, company."""

from contextlib import suppress
from functools import partial

from turnwire.core.room import Room, Rooms, Seat


def test_an_id_is_claimed_once() -> None:
    room = Room()
    one, other = Seat(room), Seat(room)

    assert one.claim("P1")
    assert one.claim("P1")
    assert not other.claim("P1")
    assert other.claim("P2")


def test_a_claim_outlives_whoever_made_it() -> None:
    """The other one's socket may be behind, and hear the echo after that stream is over."""
    room = Room()
    one, other = Seat(room), Seat(room)
    one.claim("P1")

    one.leave()

    assert not other.claim("P1")


def test_claims_are_bounded() -> None:
    room = Room()
    one, other = Seat(room), Seat(room)
    for number in range(Seat.CLAIMS_MAX + 1):
        one.claim(str(number))

    assert other.claim("0"), "the oldest is forgotten"
    assert not other.claim("2")


def test_the_floor_goes_round_in_the_order_of_asking() -> None:
    room = Room()
    seats = [Seat(room) for _ in range(3)]
    news: list[int] = []
    for number, seat in enumerate(seats):
        seat.on_news = partial(news.append, number)

    assert [seat.speak() for seat in seats] == [True, False, False]
    assert [seat.speak() for seat in seats] == [True, False, False], "asking twice changes nothing"
    seats[1].leave()
    assert not news, "whoever gives up in the line does not move it"
    seats[0].hush()

    assert news == [2]
    assert seats[2].speak()
    assert not seats[0].speak()


def test_users_have_the_floor_in_turn() -> None:
    """However many prompts one of them has in the line, each other waits for one of these."""
    room = Room()
    line = [("ann", Seat(room)) for _ in range(3)]
    line += [("bob", Seat(room)), ("bob", Seat(room)), ("cat", Seat(room))]
    seats = dict(enumerate(line))
    for user, seat in line:
        seat.speak(user)

    order: list[tuple[str, int]] = []
    while room.speaker is not None:
        number = next(n for n, (_, seat) in seats.items() if seat is room.speaker)
        order.append((seats[number][0], number))
        seats[number][1].hush()

    assert order == [("ann", 0), ("bob", 3), ("cat", 5), ("ann", 1), ("bob", 4), ("ann", 2)]
    assert not room.rounds


def test_who_comes_late_waits_for_no_more_than_the_round() -> None:
    room = Room()
    anns = [Seat(room) for _ in range(20)]
    for seat in anns:
        seat.speak("ann")
    for seat in anns[:7]:
        seat.hush()
    bob, again = Seat(room), Seat(room)
    assert not bob.speak("bob")
    again.speak("bob")

    anns[7].hush()

    assert bob.speak("bob")
    bob.hush()
    assert anns[8].speak("ann"), "whoever has waited is not passed by for ever"
    anns[8].hush()
    assert again.speak("bob")
    assert room.rounds.keys() == {"ann", "bob"}
    again.hush()
    assert anns[9].speak("ann")
    assert room.rounds.keys() == {"ann"}, "of others nothing is kept"


def test_to_hush_without_having_spoken_is_nothing() -> None:
    room = Room()
    one, other = Seat(room), Seat(room)
    one.speak()

    other.hush()

    assert one.speak()


def test_company_is_who_follows_the_same_turn() -> None:
    room = Room()
    one, other, third = Seat(room), Seat(room), Seat(room)
    news: list[str] = []
    one.on_news = lambda: news.append("one")
    one.follow("p1")
    one.follow("t1")

    third.follow("t2")
    assert not one.accompanied
    other.follow("t1")

    assert news == ["one"]
    assert one.accompanied
    assert other.accompanied
    assert not third.accompanied
    other.leave()
    assert not one.accompanied


def test_who_follows_a_turn_for_nobody_is_no_company() -> None:
    room = Room()
    one, unwatched = Seat(room), Seat(room)
    news: list[str] = []
    one.on_news = lambda: news.append("one")
    unwatched.follow("t1")
    one.follow("t1")

    unwatched.unwatched()
    unwatched.follow("t2")
    assert not one.accompanied
    Seat(room).follow("t1")

    assert one.accompanied
    assert not unwatched.accompanied
    assert news == ["one"], "whoever comes after is company"
    assert list(room.followers) == ["t1"]


def test_a_room_lasts_as_long_as_somebody_is_in_it() -> None:
    rooms = Rooms()
    with rooms.seat("s1") as one:
        with rooms.seat("s1") as other, rooms.seat("s2") as elsewhere:
            assert one.claim("P1")
            assert not other.claim("P1")
            assert elsewhere.claim("P1")
            assert len(rooms) == 2
        assert len(rooms) == 1
    assert len(rooms) == 0
    with rooms.seat("s1") as later:
        assert later.claim("P1")


def test_a_stream_that_fails_leaves_the_floor() -> None:
    rooms = Rooms()
    news: list[str] = []
    with rooms.seat("s1") as waiting:
        waiting.on_news = lambda: news.append("mine")
        with suppress(ZeroDivisionError), rooms.seat("s1") as speaking:
            assert speaking.speak()
            assert not waiting.speak()
            _ = 1 / 0

        assert news == ["mine"]
        assert waiting.speak()


def test_neighbours_are_the_others_that_have_asked() -> None:
    room = Room()
    one, other, quiet = Seat(room), Seat(room), Seat(room)
    one.asked, other.asked = "here", "there"

    assert one.neighbours == ["there"]
    assert quiet.neighbours == ["here", "there"]


def test_only_who_is_alone_hears_of_company() -> None:
    room = Room()
    seats = [Seat(room) for _ in range(3)]
    news: list[int] = []
    for number, seat in enumerate(seats):
        seat.on_news = partial(news.append, number)
        seat.follow("t1")
        seat.follow("t1")

    assert news == [0]


def test_a_turn_that_starts_over_for_ever_is_followed_within_bounds() -> None:
    room = Room()
    one, other = Seat(room), Seat(room)
    for number in range(Seat.FOLLOWED_MAX + 1):
        one.follow(str(number))

    other.follow("0")
    assert not one.accompanied, "the oldest is forgotten"
    other.follow("2")
    assert one.accompanied
    one.leave()
    other.leave()
    assert not room.followers


def test_who_comes_on_an_errand_of_ours_does_not_come_back() -> None:
    rooms = Rooms()
    with rooms.seat("s") as seat:
        with rooms.errand("s", "u1"):
            pass
        seat.unattended("u1")
        with rooms.errand("s", "u1"), rooms.errand("s", "u2"):
            assert not seat.joined("u1")
        with rooms.errand("s", "u1"):
            assert not seat.joined("u2")
        assert not seat.joined("u1"), "the agent may tell of it late"

        assert seat.joined("u1")


def test_an_errand_that_failed_is_none() -> None:
    rooms = Rooms()
    with rooms.seat("s") as seat:
        seat.unattended("u1")
        with suppress(ValueError), rooms.errand("s", "u1"):
            raise ValueError

        assert seat.joined("u1")


def test_an_errand_leaves_no_room_behind() -> None:
    rooms = Rooms()
    with rooms.errand("s", "u1"):
        assert len(rooms) == 0


def test_nobody_who_is_not_awaited_comes_back() -> None:
    seat = Seat()

    assert not seat.joined("u1")
    seat.unattended("u1")
    assert not seat.joined(None)
    assert seat.joined("u1")


def test_rooms_know_whether_others_may_be_elsewhere() -> None:
    with Rooms().seat("s1") as together, Rooms(apart=True).seat("s1") as apart:
        assert not together.apart
        assert apart.apart
    assert not Seat().apart


def test_whose_claim_an_id_is() -> None:
    room = Room()
    one, other = Seat(room), Seat(room)
    one.claim("P1")

    assert [seat.is_anothers("P1") for seat in (one, other)] == [False, True]
    assert not one.is_anothers("P2")
