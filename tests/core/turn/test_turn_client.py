"""Streams whose client is gone or does not read."""

import json
from collections.abc import Callable

import pytest

from support import v2_frames as f
from support.turns import (
    NOTHING,
    QUEUED,
    RUNNING,
    opened,
    sent_types,
    verdict,
    wait,
)
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    ClientStalled,
    Drain,
    Held,
    Opened,
    Progressed,
    Tick,
)
from turnwire.core.turn.limits import DisconnectPolicy, Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS


def test_a_client_gone_during_the_dial_prompts_nobody() -> None:
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(),
    )

    assert turn.handle(ClientLeft(), 1) == NOTHING
    assert turn.outcome is Outcome.CLIENT_GONE
    assert turn.handle(Opened(), 1.1) == NOTHING


@pytest.mark.parametrize(
    ("frames", "names"),
    [
        pytest.param((), {"promptId"}, id="asked"),
        pytest.param(RUNNING, {"promptId", "turnId"}, id="running"),
    ],
)
def test_a_client_gone_aborts_our_turn(frames: tuple[bytes, ...], names: set[str]) -> None:
    turn = opened(*frames)

    act = turn.handle(ClientLeft(), 2)

    (abort,) = map(json.loads, act.to_agent)
    assert act.to_client == b""
    assert abort.keys() == {"type", "channelType", "channelId"} | names
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_client_gone_in_the_queue_never_aborts_the_turn_of_another() -> None:
    turn = opened(*QUEUED)

    assert turn.handle(ClientLeft(), 2) == NOTHING
    assert turn.handle(ClientLeft(), 2) == NOTHING
    assert turn.frames([f.part("secret", "turn-0")], 3) == NOTHING
    assert turn.outcome is None

    act = turn.frames([f.finalize("turn-0")], 4)  # now an abort stops no other turn

    (abort,) = map(json.loads, act.to_agent)
    assert (abort["type"], abort["promptId"], "turnId" in abort) == ("abort", f.PROMPT, False)
    assert turn.outcome is Outcome.CLIENT_GONE
    assert turn.deadline == float("inf")


def test_at_an_agent_that_names_no_prompts_the_turn_is_aborted() -> None:
    turn = opened(f.part("x", "turn-0"))

    assert turn.handle(ClientLeft(), 2) == NOTHING
    assert turn.frames([f.finalize("turn-0")], 3) == NOTHING
    act = turn.frames([f.create(), f.part("a")], 4)

    (abort,) = map(json.loads, act.to_agent)
    assert (abort["turnId"], act.to_client) == (f.OURS, b"")
    assert turn.outcome is Outcome.CLIENT_GONE


def test_at_an_agent_that_turns_out_to_name_prompts_ours_is_aborted() -> None:
    turn = opened(f.part("x", "turn-0"))
    turn.handle(ClientLeft(), 2)
    turn.frames([f.finalize("turn-0")], 3)

    act = turn.frames([f.frame("agentStatus", status="thinking", promptId="p9")], 4)

    assert sent_types(act) == ["abort"]
    assert turn.deadline == float("inf")


@pytest.mark.parametrize(
    ("frames", "outcome"),
    [
        pytest.param([f.begin(), f.finalize()], Outcome.CLIENT_GONE, id="it ran"),
        pytest.param([f.frame("error", promptId="p1")], Outcome.ABANDONED, id="it never began"),
    ],
)
def test_a_turn_that_is_over_in_the_same_read_is_not_aborted(
    frames: list[bytes], outcome: Outcome
) -> None:
    turn = opened(*QUEUED)
    turn.handle(ClientLeft(), 2)

    assert turn.frames([f.finalize("turn-0"), *frames], 3) == NOTHING
    assert turn.outcome is outcome


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda t: wait(t, 602), id="the queue limit"),
        pytest.param(lambda t: t.handle(AgentLeft(), 3), id="the agent leaves"),
        pytest.param(lambda t: t.frames([f.frame("error", promptId="p1")], 3), id="refused"),
        pytest.param(lambda t: (t.handle(Drain(), 3), wait(t, 40)), id="the gateway stops"),
    ],
)
def test_a_stream_without_client_is_abandoned(happens: Callable[[Turn], object]) -> None:
    turn = opened(*QUEUED)
    turn.handle(ClientLeft(), 2)

    happens(turn)

    assert turn.outcome is Outcome.ABANDONED


def test_a_client_without_progress_is_cut_at_the_stall_limit() -> None:
    turn = opened(*RUNNING)
    turn.handle(Blocked(), 3)

    turn.handle(Progressed(), 10)

    assert [at for at, _ in wait(turn, 500)] == [30]
    assert turn.outcome is Outcome.SLOW_CLIENT


def test_as_much_as_the_backlog_is_held() -> None:
    turn = opened(*RUNNING)
    turn.handle(Blocked(), 3)

    assert turn.handle(Held(2**20), 4) == NOTHING
    assert turn.outcome is None


def test_a_client_that_hangs_up_while_it_does_not_read_ends_the_pause() -> None:
    turn = opened(*QUEUED)
    turn.handle(Blocked(), 3)
    turn.handle(ClientLeft(), 4)

    assert [at for at, _ in wait(turn, 5_000)] == [602]
    assert turn.outcome is Outcome.ABANDONED


def cut_in_the_queue(**limits: float) -> Turn:
    """A turn that waits behind another, whose client was cut off at 23."""
    turn = opened(*QUEUED, **limits)
    turn.handle(Blocked(), 3)
    act = turn.handle(Tick(), 23)
    assert (sent_types(act), act.disconnect_client, verdict(act)) == ([], True, "Client too slow")
    assert turn.outcome is None
    return turn


def test_one_that_is_cut_in_the_queue_never_aborts_the_turn_of_another() -> None:
    turn = cut_in_the_queue()

    for late in (
        turn.handle(ClientLeft(), 24),
        turn.handle(Held(2**20 + 1), 24),
        turn.handle(Blocked(), 24),
    ):
        assert late == NOTHING
    assert turn.frames([f.part("secret", "turn-0"), f.frame("status")], 25) == NOTHING
    act = turn.frames([f.finalize("turn-0"), f.begin()], 26)

    assert (sent_types(act), act.to_client, act.disconnect_client) == (["abort"], b"", False)
    assert turn.outcome is Outcome.SLOW_CLIENT


@pytest.mark.parametrize(
    "happens",
    [
        pytest.param(lambda t: wait(t, 5_000), id="the queue limit"),
        pytest.param(lambda t: t.handle(AgentLeft(), 30), id="the agent leaves"),
        pytest.param(lambda t: t.frames([f.frame("error", promptId="p1")], 30), id="refused"),
        pytest.param(lambda t: (t.handle(Drain(), 30), wait(t, 70)), id="the gateway stops"),
    ],
)
def test_however_it_ends_then_it_was_slow(happens: Callable[[Turn], object]) -> None:
    turn = cut_in_the_queue()

    happens(turn)

    assert turn.outcome is Outcome.SLOW_CLIENT


def test_after_the_cut_the_queue_limit_holds() -> None:
    turn = cut_in_the_queue()
    turn.frames([f.frame("status")], 600)

    acts = wait(turn, 5_000)

    assert ([act for _, act in acts], acts[-1][0]) == ([NOTHING] * len(acts), 623)


def test_one_that_holds_too_much_is_cut_before_its_time() -> None:
    turn = opened(*QUEUED)
    turn.handle(Blocked(), 3)

    assert turn.handle(Held(2**20 + 1), 4).disconnect_client


def test_where_an_abort_hits_us_alone_the_cut_is_the_end() -> None:
    turn = opened(*RUNNING)
    turn.handle(Blocked(), 3)

    act = turn.handle(Tick(), 23)

    assert (sent_types(act), act.disconnect_client, verdict(act)) == (
        ["abort"],
        False,
        "Client too slow",
    )
    assert turn.outcome is Outcome.SLOW_CLIENT


@pytest.mark.parametrize("policy", list(DisconnectPolicy))
def test_one_that_the_kernel_cut_was_slow_whatever_the_policy(policy: DisconnectPolicy) -> None:
    turn = opened(*RUNNING, on_disconnect=policy)

    act = turn.handle(ClientStalled(), 2)

    assert sent_types(act) == ["abort"]
    assert turn.outcome is Outcome.SLOW_CLIENT
    assert turn.handle(ClientStalled(), 3) == NOTHING
