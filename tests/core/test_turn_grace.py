"""A client that hangs up and may come back: its turn waits for it, for a while."""

from collections.abc import Callable

import pytest

from core import frames as f
from core.turns import NOTHING, QUEUED, RUNNING, told, wait
from turnwire.core.dialect import Ask, Look
from turnwire.core.limits import Hangup, Limits
from turnwire.core.outcome import Outcome
from turnwire.core.room import Room, Seat
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS


def turn_of(room: Room, *frames: bytes, drain_s: float = 30) -> Turn:
    """A turn under `grace` whose client left at 2."""
    seat = Seat(room)
    ask = Ask(text="hi", prompt_id=f.PROMPT, user_id="u1")
    limits = Limits(on_hangup=Hangup.GRACE, grace_s=30, drain_s=drain_s)
    turn = Turn(DIALECTS["v2"].prompt(ask, seat), limits)

    def look() -> None:
        turn.tick(10)

    seat.on_news = look
    turn.opened(0)
    turn.frames(frames, 1)
    return turn


def come_back(room: Room, turn: str = f.OURS) -> None:
    """Another stream of this process follows the turn."""
    Seat(room).follow(turn)


def test_nobody_comes_back_and_the_turn_is_aborted() -> None:
    turn = turn_of(Room(), *RUNNING)

    assert turn.client_left(2) == NOTHING
    acts = wait(turn, 500)

    assert [(at, told(act)) for at, act in acts] == [(32, ["abort"])]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_what_is_said_meanwhile_is_not_written() -> None:
    turn = turn_of(Room(), *RUNNING)
    turn.client_left(2)

    assert turn.frames([f.part("b")], 3) == NOTHING
    assert turn.frames([f.finalize()], 4) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_somebody_comes_back_and_the_turn_goes_on() -> None:
    room = Room()
    turn = turn_of(room, *RUNNING)
    turn.client_left(2)

    come_back(room)

    assert turn.outcome is Outcome.CLIENT_GONE
    assert wait(turn, 500) == []


def test_who_follows_another_turn_has_not_come_back() -> None:
    room = Room()
    turn = turn_of(room, *RUNNING)
    turn.client_left(2)

    come_back(room, "turn-2")

    assert turn.outcome is None


def test_whoever_resumed_before_the_hang_up_was_noticed_counts() -> None:
    room = Room()
    turn = turn_of(room, *RUNNING)
    come_back(room)

    assert turn.client_left(2) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize(
    ("user", "tell"), [pytest.param("u1", [], id="ours"), pytest.param("u2", ["abort"], id="other")]
)
def test_the_agent_tells_who_came(user: str, tell: list[str]) -> None:
    turn = turn_of(Room(), *RUNNING)
    turn.client_left(2)

    turn.frames([f.frame("user.joined", userId=user)], 3)
    acts = wait(turn, 500)

    assert [kind for _, act in acts for kind in told(act)] == tell
    assert turn.outcome is Outcome.CLIENT_GONE


def test_who_joined_before_the_hang_up_did_not_come_back() -> None:
    turn = turn_of(Room(), *RUNNING, f.frame("user.joined", userId="u1"))

    turn.client_left(2)

    assert [told(act) for _, act in wait(turn, 500)] == [["abort"]]


def test_in_the_queue_the_turn_of_another_is_not_aborted_after_the_grace_either() -> None:
    turn = turn_of(Room(), *QUEUED)
    turn.client_left(2)

    assert [(at, told(act)) for at, act in wait(turn, 40)] == [(32, [])]
    assert turn.outcome is None
    act = turn.frames([f.finalize("turn-0"), f.begin()], 50)

    assert told(act) == ["abort"]


def test_whoever_waits_for_the_same_prompt_is_company() -> None:
    room = Room()
    turn = turn_of(room, *QUEUED)
    turn.client_left(2)

    come_back(room, f.PROMPT)

    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize(
    ("happens", "outcome"),
    [
        pytest.param(lambda t: t.agent_left(3), Outcome.CLIENT_GONE, id="the agent leaves"),
        pytest.param(lambda t: (t.drain(3), wait(t, 20)), Outcome.CLIENT_GONE, id="a drain"),
    ],
)
def test_the_grace_ends_with_the_stream(
    happens: Callable[[Turn], object], outcome: Outcome
) -> None:
    turn = turn_of(Room(), *RUNNING, drain_s=5)
    turn.client_left(2)

    happens(turn)

    assert turn.outcome is outcome


def test_a_resumed_stream_never_aborts() -> None:
    message = {"id": f.OURS, "role": "assistant", "parts": []}
    init = f.frame("init", session={"messages": [message]}, data={"runningTurnId": f.OURS})
    for policy in Hangup:
        conversation = DIALECTS["v2"].resume(Look(user_id="u1", init_s=5))
        turn = Turn(conversation, Limits(on_hangup=policy))
        turn.opened(0)
        assert b'"messageId":"turn-1"' in turn.frames([init], 1).write

        act = turn.client_left(2)

        assert act == NOTHING
        assert [told(act) for _, act in wait(turn, 500)] in ([], [[]])
        assert turn.outcome is Outcome.CLIENT_GONE
