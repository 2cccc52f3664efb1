"""Several streams of one process in one session, and what they know of each other."""

from typing import Any

import pytest

from core.turns import wait
from dialects.session_agent import frames as f
from dialects.session_agent.talk import conversation, error, hear, sent
from turnwire.core.act import Act
from turnwire.core.dialect import NEVER, Ask, Reach
from turnwire.core.events import TurnStarted
from turnwire.core.limits import Limits
from turnwire.core.outcome import Outcome
from turnwire.core.room import Room, Seat
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent import ending, outgoing
from turnwire.dialects.session_agent.conversation import Conversation

THREAD = {"channel_type": "thread", "channel_id": "th1"}


def running(revision: str, seat: Seat, **ask: Any) -> Conversation:
    where = {"channelType": "thread", "channelId": "th1", "threadId": "th1"} if ask else f.CHANNEL
    return conversation(f.init(revision), f.user(**where), f.begin(**where), seat=seat, **ask)


@pytest.mark.parametrize(
    ("revision", "ours", "neighbour", "reach"),
    [
        pytest.param("R", {}, {}, Reach.NOTHING, id="R would drop it from the queue"),
        pytest.param("R", {}, {"channel_id": "c2"}, Reach.NOTHING, id="R, on any channel"),
        pytest.param("V", {}, {}, Reach.OURS, id="V keeps what is queued behind ours"),
        pytest.param("V", {}, {"channel_id": "c2"}, Reach.NOTHING, id="V would stop it as well"),
        pytest.param("V", THREAD, {}, Reach.OURS, id="V stops a thread alone"),
    ],
)
def test_a_prompt_that_is_on_its_way_is_not_harmed(
    revision: str, ours: dict[str, Any], neighbour: dict[str, Any], reach: Reach
) -> None:
    room = Room()
    made = running(revision, Seat(room), **ours)
    assert made.reach is Reach.OURS

    conversation(f.init(revision), text="other", seat=Seat(room), **neighbour)

    assert made.reach is reach


def test_one_that_left_is_no_neighbour() -> None:
    room = Room()
    made, seat = running("R", Seat(room)), Seat(room)
    conversation(f.init("R"), text="other", seat=seat)

    seat.leave()

    assert made.reach is Reach.OURS


def test_a_prompt_that_was_queued_after_an_abort_outlives_its_acknowledgement() -> None:
    """R deletes its queue with the abort, and acknowledges when the runner has stopped."""
    aborted = f.doing("idle"), f.audit("user.abort")
    made = conversation(f.init("R", runnerBusy=True), *aborted, *f.queued("R"))

    assert hear(made, f.status(runnerBusy=False, aborted=True), now=1) == []
    assert hear(made, *f.dequeued("R"), now=1) == []
    assert made.deadline == 30
    assert hear(made, f.begin(), now=1) == [TurnStarted(f.TURN)]


def test_a_queue_that_does_not_move_on_after_an_abort_is_gone() -> None:
    made = conversation(f.init("R", runnerBusy=True), *f.queued("R"))

    hear(made, f.status(runnerBusy=False, aborted=True), now=1)

    assert error(made.tick(1 + ending.COMPLETION_GRACE_S)) == ending.DROPPED


def test_after_a_while_of_not_reading_a_pong_comes_before_an_abort() -> None:
    """Frames that were not read yet may have ended our turn, and an abort names no turn."""
    made = conversation(*f.running("V"))
    made.tick(30)
    sure = made.reach

    made.doubt()

    assert (sure, made.reach, made.abort()) == (Reach.OURS, Reach.OTHERS, ())
    assert made.deadline < 31
    assert sent(made.tick(31)) == [{"type": "ping"}]
    assert made.hear(f.frame("pong"), 31) == ()
    assert not made.abort(), "it is the pong of the ping before"
    assert made.hear(f.frame("pong"), 31) == ()
    assert len(made.abort()) == 1
    assert made.deadline == 61


def unread() -> Turn:
    """A stream whose client has read nothing since 2, so that nothing is read from the agent."""
    made = Turn(
        DIALECTS["session-agent"].prompt(Ask(text="two", prompt_id="p1", user_id=f.ME)), Limits()
    )
    made.opened(0)
    made.frames(f.running("V"), 1)
    made.blocked(2)
    return made


def test_a_client_that_leaves_after_not_reading_stops_its_turn_once_all_was_heard() -> None:
    made = unread()

    assert not made.client_left(3).tell
    assert made.deadline < 3
    assert made.tick(3).tell == [outgoing.PING]
    assert not made.frames([f.chunk("a")], 4).tell
    act = made.frames([f.frame("pong")], 4)

    assert act.tell == [outgoing.abort(("web", "default"))]
    assert made.outcome is Outcome.CLIENT_GONE


def test_or_leaves_the_next_one_alone_if_its_turn_is_over() -> None:
    made = unread()
    made.client_left(3)
    made.tick(3)

    act = made.frames([f.done("x"), f.frame("pong")], 4)

    assert (act.tell, made.outcome) == ((), Outcome.CLIENT_GONE)


def test_a_client_that_is_cut_off_stops_its_turn_once_all_was_heard() -> None:
    made = unread()

    act = made.tick(22)
    assert (act.tell, act.cut, made.outcome) == ((), True, None)
    assert made.deadline < 22
    assert made.tick(22).tell == [outgoing.PING]
    assert made.frames([f.chunk("a")], 23) == Act()
    act = made.frames([f.frame("pong")], 23)

    assert act == Act(tell=[outgoing.abort(("web", "default"))])
    assert (made.outcome, made.deadline) == (Outcome.SLOW_CLIENT, NEVER)


def test_or_stops_nothing_if_its_turn_is_over() -> None:
    made = unread()
    made.tick(22)
    made.tick(22)

    act = made.frames([f.done("x"), f.begin("T2"), f.frame("pong")], 23)

    assert (act, made.outcome) == (Act(), Outcome.SLOW_CLIENT)


def test_or_if_no_pong_comes() -> None:
    made = unread()
    made.tick(22)

    made.tick(22)
    acts = wait(made, 5_000)

    assert {frame for _, act in acts for frame in act.tell} == {outgoing.PING}
    # It was heard from at 1, and the clock stood still from 2 to 22.
    assert acts[-1][0] == 22 - 1 + Limits().idle_s
    assert made.outcome is Outcome.SLOW_CLIENT


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_prompts_of_one_session_go_out_one_at_a_time(revision: str) -> None:
    room = Room()
    one, other = Seat(room), Seat(room)
    news: list[str] = []
    other.on_news = lambda: news.append("the floor is free")
    first = conversation(f.init(revision), seat=one)
    second = conversation(seat=other)

    assert sent(second.hear(f.init(revision), 0)) == []
    assert (second.deadline, second.reach) == (30, Reach.NOTHING)
    hear(first, f.user(prompt="P1"))

    assert news
    assert second.deadline < 0
    assert [frame["type"] for frame in sent(second.tick(1))] == ["prompt"]


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_equal_prompts_are_two(revision: str) -> None:
    room = Room()
    first, second = (conversation(f.init(revision), seat=Seat(room)) for _ in range(2))
    # The second one's socket is behind, and hears the first one's echo when it has spoken.
    hear(first, f.user(prompt="P1"))
    second.tick(0)

    hear(second, f.user(prompt="P1"), f.user(prompt="P2"))

    assert (first.prompt_id, second.prompt_id) == ("P1", "P2")


def test_a_prompt_that_waits_before_we_have_spoken_is_not_ours() -> None:
    room = Room()
    ahead = conversation(f.init("V", runnerBusy=True), text="ahead", seat=Seat(room))
    made = conversation(f.init("V", runnerBusy=True), seat=Seat(room))
    # The same text, by somebody of another process.
    hear(made, f.pending(prompt="P1"))
    hear(ahead, f.user("ahead"))
    made.tick(0)

    hear(made, f.pending(prompt="P1"))

    assert (made.queued, made.prompt_id) == (False, None)
