"""Frames of a turn that come before its `message.create`, from agents that name no prompts."""

from typing import Any

import pytest

from support import v2_frames as f
from support.v2_protocol import conversation
from turnwire.core.agent import ALIVE, AbortScope, Decoded
from turnwire.core.events import Queued, TurnStarted
from turnwire.core.requests import ResumeRequest
from turnwire.dialects import DIALECTS

EARLY = [
    pytest.param(f.frame("agentStatus", status="thinking", turnId=f.OURS), id="a status"),
    pytest.param(
        f.frame("agentStatus", status="thinking", turnId=f.OURS, channelId="default"),
        id="a status with its channel",
    ),
    pytest.param(f.part("a"), id="a delta"),
    pytest.param(f.chunk("a"), id="a chunk"),
    pytest.param(f.reasoning("a"), id="a thought"),
    pytest.param(f.tool("pending"), id="a tool"),
    pytest.param(f.question(turnId=f.OURS), id="a question"),
    pytest.param(f.file(), id="a file"),
]


@pytest.mark.fault(
    "the agent names no prompts, and sends frames of a turn before its `message.create`",
    "the turn still counts as ours, and its answer is shown",
)
@pytest.mark.parametrize("greeting", [[], [f.init(runnerBusy=False)]], ids=["no init", "idle"])
@pytest.mark.parametrize("early", EARLY)
def test_an_early_frame_of_our_own_turn_does_not_make_the_turn_foreign(
    early: bytes, greeting: list[bytes]
) -> None:
    made = conversation(*greeting, early, early)

    assert made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])
    assert made.receive_frame(f.part("b"), 0) == "b"
    assert (made.queued, made.abort_scope) == (False, AbortScope.OURS)


@pytest.mark.parametrize(
    ("before", "data"),
    [
        pytest.param([], {"runningTurnId": f.OURS}, id="init names it"),
        pytest.param([], {"runnerBusy": True}, id="init says busy, and this is who is at work"),
    ],
)
@pytest.mark.parametrize("early", EARLY)
def test_a_turn_that_was_open_before_our_prompt_never_is_ours(
    early: bytes, before: list[bytes], data: dict[str, Any]
) -> None:
    made = conversation(*before, f.init(**data), early)

    assert made.receive_frame(f.create(), 0) is None
    assert made.receive_frame(f.create(), 0) is None, "nor if it is created once more"
    assert made.receive_frame(f.finalize(), 0) == ALIVE
    assert made.receive_frame(f.create("turn-2"), 0) == Decoded([TurnStarted("turn-2")])


def test_an_init_that_comes_again_names_what_began_after_we_came() -> None:
    made = conversation(f.init(), f.init(runnerBusy=True, runningTurnId=f.OURS))

    assert made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])


@pytest.mark.parametrize("early", EARLY)
def test_a_turn_whose_channel_is_known_at_last_is_not_in_our_way(early: bytes) -> None:
    """It was seen before it was created, so it might have been on any channel."""
    other = early.replace(f.OURS.encode(), b"turn-0").replace(b"default", b"x")
    made = conversation(other, f.create("turn-0", channelId="x"))

    assert made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])


def test_a_turn_that_tells_its_channel_before_it_is_created_is_not_in_our_way() -> None:
    elsewhere = f.frame("agentStatus", status="thinking", turnId="turn-0", channelId="x")

    assert conversation(elsewhere).receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])


@pytest.mark.parametrize(("channel", "is_ours"), [("x", True), ("default", False)])
def test_what_runs_when_we_come_is_in_our_way_on_our_channel_alone(
    channel: str, *, is_ours: bool
) -> None:
    entry = {"id": "turn-0", "role": "assistant", "channelId": channel, "parts": []}
    busy = {"runnerBusy": True, "runningTurnId": "turn-0"}
    made = conversation(f.frame("init", session={"messages": [entry]}, data=busy))

    assert (made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])) == is_ours


def test_the_turn_of_another_that_was_created_stays_in_our_way() -> None:
    first = [f.frame("agentStatus", status="thinking", turnId=t) for t in ("turn-0", f.OURS)]
    made = conversation(*first, f.create("turn-0"))

    assert made.queued
    assert made.receive_frame(f.finalize("turn-0"), 0) == ALIVE
    assert made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])


def test_a_turn_with_our_prompt_is_no_other_after_its_early_frames() -> None:
    made = conversation(f.part("early"))
    assert made.queued

    assert made.receive_frame(f.begin(), 0) == Decoded([TurnStarted(f.OURS)])
    assert not made.queued


def test_a_resumed_prompt_that_waits_knows_its_turn_after_an_early_frame() -> None:
    waits = {"id": "u1", "role": "user", "queued": True, "parts": []}
    made = DIALECTS["v2"].resume(ResumeRequest(user_id="u1", init_s=5))
    made.connection_opened(0)
    made.receive_frame(f.frame("init", session={"messages": [waits]}), 0)

    assert made.receive_frame(
        f.frame("agentStatus", status="thinking", turnId=f.OURS), 0
    ) == Decoded([Queued()])
    assert made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])


def test_a_resumed_turn_follows_its_prompt_when_it_starts_over() -> None:
    turn = {"id": f.OURS, "role": "assistant", "promptId": f.PROMPT, "parts": []}
    busy = {"runnerBusy": True, "runningTurnId": f.OURS}
    made = DIALECTS["v2"].resume(ResumeRequest(user_id="u1", init_s=5))
    made.connection_opened(0)
    made.receive_frame(f.part("what comes before the hydration is part of it"), 0)
    made.receive_frame(f.frame("init", session={"messages": [turn]}, data=busy), 0)

    assert made.receive_frame(f.begin("turn-2"), 0) == Decoded([TurnStarted("turn-2")])
    assert made.receive_frame(f.part("b", "turn-2"), 0) == "b"


def test_a_turn_that_is_over_is_not_open_again_if_it_is_created_late() -> None:
    made = conversation(f.finalize("turn-0"), f.create("turn-0", channelId="x"))

    assert not made.queued
    assert made.receive_frame(f.create(), 0) == Decoded([TurnStarted(f.OURS)])
