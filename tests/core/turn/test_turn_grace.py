"""A client that disconnects and may come back: its turn goes on for the grace time."""

from collections.abc import Callable

import pytest

from support import v2_frames as f
from support.turns import NOTHING, QUEUED, RUNNING, sent_types, wait
from turnwire.core.requests import PromptRequest, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import AgentLeft, ClientLeft, Drain, Opened, Tick
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS


def turn_of(group: SessionGroup, *frames: bytes, drain_s: float = 30) -> Turn:
    """A turn under `grace` whose client left at 2."""
    member = Member(group)
    ask = PromptRequest(text="hi", prompt_id=f.PROMPT, user_id="u1")
    limits = Limits(on_disconnect=DisconnectPolicy.GRACE, grace_s=30, drain_s=drain_s)
    turn = Turn(DIALECTS["v2"].prompt(ask, member), limits, UIMessageStream())

    def look() -> None:
        turn.handle(Tick(), 10)

    member.on_change = look
    turn.handle(Opened(), 0)
    turn.frames(frames, 1)
    return turn


def come_back(group: SessionGroup, turn: str = f.OURS) -> None:
    """Another stream of this process follows the turn."""
    Member(group).follow(turn)


def test_nobody_comes_back_and_the_turn_is_aborted() -> None:
    turn = turn_of(SessionGroup(), *RUNNING)

    assert turn.handle(ClientLeft(), 2) == NOTHING
    acts = wait(turn, 500)

    assert [(at, sent_types(act)) for at, act in acts] == [(32, ["abort"])]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_text_that_comes_meanwhile_is_not_written() -> None:
    turn = turn_of(SessionGroup(), *RUNNING)
    turn.handle(ClientLeft(), 2)

    assert turn.frames([f.part("b")], 3) == NOTHING
    assert turn.frames([f.finalize()], 4) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_somebody_comes_back_and_the_turn_goes_on() -> None:
    group = SessionGroup()
    turn = turn_of(group, *RUNNING)
    turn.handle(ClientLeft(), 2)

    come_back(group)

    assert turn.outcome is Outcome.CLIENT_GONE
    assert wait(turn, 500) == []


def test_who_follows_another_turn_has_not_come_back() -> None:
    group = SessionGroup()
    turn = turn_of(group, *RUNNING)
    turn.handle(ClientLeft(), 2)

    come_back(group, "turn-2")

    assert turn.outcome is None


def test_whoever_resumed_before_the_hang_up_was_noticed_counts() -> None:
    group = SessionGroup()
    turn = turn_of(group, *RUNNING)
    come_back(group)

    assert turn.handle(ClientLeft(), 2) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize(
    ("user", "aborts"),
    [pytest.param("u1", [], id="ours"), pytest.param("u2", ["abort"], id="other")],
)
def test_the_agent_tells_who_came(user: str, aborts: list[str]) -> None:
    turn = turn_of(SessionGroup(), *RUNNING)
    turn.handle(ClientLeft(), 2)

    turn.frames([f.frame("user.joined", userId=user)], 3)
    acts = wait(turn, 500)

    assert [kind for _, act in acts for kind in sent_types(act)] == aborts
    assert turn.outcome is Outcome.CLIENT_GONE


def test_who_joined_before_the_hang_up_did_not_come_back() -> None:
    turn = turn_of(SessionGroup(), *RUNNING, f.frame("user.joined", userId="u1"))

    turn.handle(ClientLeft(), 2)

    assert [sent_types(act) for _, act in wait(turn, 500)] == [["abort"]]


def test_in_the_queue_the_turn_of_another_is_not_aborted_after_the_grace_either() -> None:
    turn = turn_of(SessionGroup(), *QUEUED)
    turn.handle(ClientLeft(), 2)

    assert [(at, sent_types(act)) for at, act in wait(turn, 40)] == [(32, [])]
    assert turn.outcome is None
    act = turn.frames([f.finalize("turn-0"), f.begin()], 50)

    assert sent_types(act) == ["abort"]


def test_a_stream_that_waits_for_the_same_prompt_counts_as_a_watcher() -> None:
    group = SessionGroup()
    turn = turn_of(group, *QUEUED)
    turn.handle(ClientLeft(), 2)

    come_back(group, f.PROMPT)

    assert turn.outcome is Outcome.CLIENT_GONE


@pytest.mark.parametrize(
    ("happens", "outcome"),
    [
        pytest.param(
            lambda t: t.handle(AgentLeft(), 3), Outcome.CLIENT_GONE, id="the agent leaves"
        ),
        pytest.param(
            lambda t: (t.handle(Drain(), 3), wait(t, 20)), Outcome.CLIENT_GONE, id="a drain"
        ),
    ],
)
def test_the_grace_ends_with_the_stream(
    happens: Callable[[Turn], object], outcome: Outcome
) -> None:
    turn = turn_of(SessionGroup(), *RUNNING, drain_s=5)
    turn.handle(ClientLeft(), 2)

    happens(turn)

    assert turn.outcome is outcome


def test_a_resumed_stream_never_aborts() -> None:
    message = {"id": f.OURS, "role": "assistant", "parts": []}
    init = f.frame("init", session={"messages": [message]}, data={"runningTurnId": f.OURS})
    for policy in DisconnectPolicy:
        conversation = DIALECTS["v2"].resume(ResumeRequest(user_id="u1", init_s=5))
        turn = Turn(conversation, Limits(on_disconnect=policy), UIMessageStream())
        turn.handle(Opened(), 0)
        assert b'"messageId":"turn-1"' in turn.frames([init], 1).to_client

        act = turn.handle(ClientLeft(), 2)

        assert act == NOTHING
        assert [sent_types(act) for _, act in wait(turn, 500)] in ([], [[]])
        assert turn.outcome is Outcome.CLIENT_GONE
