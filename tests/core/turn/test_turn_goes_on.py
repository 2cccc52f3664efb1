"""A turn that goes on without its client: it is not lost or stopped, and writes nothing."""

import json
from collections.abc import Callable

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.turns import NOTHING, QUESTION, QUEUED, RUNNING, TOOL, opened, sent_types, wait
from turnwire.core.requests import PromptRequest, QuestionReply, ResumeRequest
from turnwire.core.session_group import Member, SessionGroup
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    ClientStalled,
    Drain,
    Held,
    Opened,
    Tick,
    Unreachable,
)
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS

GOES_ON = Limits(on_disconnect=DisconnectPolicy.CONTINUE)


def without_client(*frames: bytes, **limits: float) -> Turn:
    """A turn that goes on, whose client left at 2."""
    turn = opened(*frames, on_disconnect=DisconnectPolicy.CONTINUE, **limits)
    assert turn.handle(ClientLeft(), 2) == NOTHING
    assert turn.outcome is None
    return turn


def dialling() -> Turn:
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        GOES_ON,
        UIMessageStream(),
    )
    assert turn.handle(ClientLeft(), 1) == NOTHING
    assert turn.outcome is None
    return turn


def test_a_prompt_whose_dial_is_under_way_is_still_sent() -> None:
    turn = dialling()

    act = turn.handle(Opened(), 1.1)

    (prompt,) = map(json.loads, act.to_agent)
    assert (prompt["type"], prompt["content"], act.to_client) == ("prompt", "hi", b"")


@pytest.mark.parametrize("frames", [RUNNING, TOOL, QUESTION, QUEUED])
def test_it_lasts_to_the_end_of_its_turn_and_writes_nothing(frames: tuple[bytes, ...]) -> None:
    turn = without_client(*frames)

    acts = [
        turn.frames([f.finalize("turn-0"), f.begin(), f.part("more"), f.part("text")], 3),
        turn.frames([f.tool("running", args={}), f.tool("completed", result=1)], 4),
        turn.handle(Tick(), 40),
        turn.handle(Blocked(), 41),
        turn.handle(Held(2**30), 41),
        turn.handle(ClientLeft(), 42),
        turn.handle(ClientStalled(), 42),
    ]
    assert turn.outcome is None
    acts.append(turn.frames([f.finalize()], 43))

    assert acts == [NOTHING] * len(acts)
    assert turn.outcome is Outcome.CLIENT_GONE
    assert turn.deadline == float("inf")


@pytest.mark.parametrize(
    ("frames", "at"),
    [
        pytest.param(RUNNING, 121, id="the agent is silent"),
        pytest.param(TOOL, 601, id="a tool is silent"),
        pytest.param(QUESTION, 331, id="nobody answers"),
    ],
)
def test_at_the_limit_of_silence_it_lets_go(frames: tuple[bytes, ...], at: float) -> None:
    turn = without_client(*frames)

    acts = wait(turn, 5_000)

    assert [(when, sent_types(act)) for when, act in acts] == [(at, [])]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_what_nobody_reads_is_not_kept() -> None:
    turn = without_client(*RUNNING)

    for now in range(3, 100):
        turn.frames([f.part("x" * 1_000)], now)

    assert turn._to_client == []


def test_at_the_limit_of_a_turn_it_lets_go() -> None:
    turn = without_client(*RUNNING, turn_s=50)

    assert [(when, sent_types(act)) for when, act in wait(turn, 5_000)] == [(51, [])]
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_turn_that_never_begins_was_abandoned() -> None:
    turn = without_client(*QUEUED)

    assert [(when, sent_types(act)) for when, act in wait(turn, 5_000)] == [(601, [])]
    assert turn.outcome is Outcome.ABANDONED


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda t: t.handle(Unreachable(), 2), id="unreachable"),
        pytest.param(
            lambda t: (t.handle(Opened(), 2), t.frames([f.frame("error", promptId="p1")], 3)),
            id="refused",
        ),
        pytest.param(
            lambda t: (t.handle(Opened(), 2), t.handle(AgentLeft(), 3)), id="the agent leaves"
        ),
        pytest.param(
            lambda t: (t.handle(Opened(), 2), t.handle(Drain(), 3)), id="the gateway stops"
        ),
        pytest.param(lambda t: (t.handle(Drain(), 2), wait(t, 40)), id="it stops during the dial"),
    ],
)
def test_however_it_ends_before_its_turn_it_was_abandoned(
    happens: Callable[[Turn], object],
) -> None:
    turn = dialling()

    happens(turn)

    assert turn.outcome is Outcome.ABANDONED


def test_a_drain_waits_for_none_that_goes_on_by_itself() -> None:
    turn = without_client(*RUNNING)

    assert turn.handle(Drain(), 3) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_one_whose_client_leaves_in_a_drain_is_not_waited_for_either() -> None:
    turn = opened(*RUNNING, on_disconnect=DisconnectPolicy.CONTINUE)
    turn.handle(Drain(), 2)

    assert turn.handle(ClientLeft(), 3) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_drain_leaves_its_time_to_a_prompt_that_was_not_sent_yet() -> None:
    turn = dialling()

    assert turn.handle(Drain(), 2) == NOTHING
    assert turn.outcome is None
    assert sent_types(turn.handle(Opened(), 3)) == ["prompt"]


def test_a_token_that_expires_ends_nothing() -> None:
    turn = without_client(*RUNNING, expires_at=7)

    assert turn.deadline > 7
    assert turn.frames([f.part("b")], 8) == NOTHING
    assert turn.outcome is None


def test_a_client_that_answers_does_not_count_it_as_a_watcher() -> None:
    group = SessionGroup()
    ask = PromptRequest(text="hi", prompt_id=f.PROMPT)
    turn = Turn(DIALECTS["v2"].prompt(ask, Member(group)), GOES_ON, UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([f.begin(), f.part("a")], 1)
    turn.handle(ClientLeft(), 2)
    question = {"questionId": "q1", "text": "May it?"}
    message = {"id": f.OURS, "role": "assistant", "parts": [{"type": "question", **question}]}
    init = f.frame("init", session={"messages": [message]}, data={"runningTurnId": f.OURS})
    answer = ResumeRequest(user_id="u1", init_s=5, replies=(QuestionReply("q1", Raw(b"true")),))
    back = Turn(DIALECTS["v2"].resume(answer, Member(group)), Limits(), UIMessageStream())
    back.handle(Opened(), 3)
    back.frames([init], 4)

    act = back.handle(ClientLeft(), 5)

    assert sent_types(act) == ["abort"], "a stream without a client is not a watcher"
    assert turn.frames([f.finalize(reason="canceled")], 6) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE


def test_who_only_looked_on_leaves_at_once() -> None:
    turn = opened(*RUNNING, on_disconnect=DisconnectPolicy.LET_GO)

    assert turn.handle(ClientLeft(), 2) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE
