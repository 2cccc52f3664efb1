"""Resuming a prompt that waits: on A and V `init` has it, with its thread alone."""

import pytest

from support import session_agent_frames as f
from support.decoded import outputs
from support.session_agent_protocol import receive_frame
from support.session_agent_resumed import (
    LATER,
    NOTHING,
    busy,
    made,
    texts,
)
from turnwire.core.events import (
    AgentStatus,
    Queued,
    Reason,
    TurnFinished,
    TurnStarted,
)
from turnwire.core.requests import Channel
from turnwire.dialects.session_agent import progress


def test_a_v_a_prompt_that_waits_is_followed_to_its_end() -> None:
    waits = {"messageId": f.PROMPT, "content": "two", "threadId": None}
    for revision in LATER:
        stream = made()

        assert receive_frame(stream, busy(revision, pendingPrompt=waits, promptsQueued=1)) == [
            Queued()
        ]
        assert stream.queued
        receive_frame(stream, *f.dequeued(revision), f.doing("thinking"))
        assert not stream.queued
        told = receive_frame(stream, f.begin(), f.chunk("a"), f.done("a"))
        assert told[0] == TurnStarted(f.TURN)
        assert texts(told) == ["a", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_prompt_of_another_user_that_waits_is_followed_as_well(revision: str) -> None:
    waits = {"messageId": f.PROMPT, "content": "two"}
    stream = made(f.init(revision, pendingPrompt=waits, promptsQueued=1))

    theirs = f.user(by="ann", threadId=None)
    told = receive_frame(stream, theirs, f.doing("thinking"), f.begin())

    assert told == [AgentStatus("thinking"), TurnStarted(f.TURN)]


@pytest.mark.parametrize("revision", LATER)
def test_a_prompt_that_waits_and_is_evicted_ends_the_stream(revision: str) -> None:
    waits = {"messageId": f.PROMPT, "content": "two"}
    stream = made(busy(revision, pendingPrompt=waits))

    told = receive_frame(
        stream, f.frame("queue.withdrawn", data={"messageId": f.PROMPT, "content": "two"})
    )

    assert told == [TurnFinished(reason=Reason.ERROR, error=progress.EVICTED)]


@pytest.mark.parametrize("revision", LATER)
def test_the_turn_that_runs_comes_before_the_prompt_that_waits(revision: str) -> None:
    waits = {"messageId": f.PROMPT, "content": "two"}
    stream = made(busy(revision, pendingPrompt=waits))

    assert receive_frame(stream, f.chunk("b")) == [TurnStarted(f.TURN)]
    assert texts(receive_frame(stream, f.done("ab"))) == ["ab", "<end_turn>"]


@pytest.mark.parametrize("revision", LATER)
def test_a_status_of_the_turn_that_runs_does_not_end_the_wait(revision: str) -> None:
    waits = {"messageId": f.PROMPT, "content": "two"}
    stream = made(busy(revision, pendingPrompt=waits))

    assert receive_frame(stream, f.doing("thinking")) == []
    assert stream.queued


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize("sign", [f.chunk("b"), f.asked("V")])
def test_the_prompt_that_waits_does_not_go_on_in_the_turn_that_runs(
    revision: str, sign: bytes
) -> None:
    """That one was stopped, and nothing told its end."""
    waits = {"messageId": f.PROMPT, "content": "two"}
    stream = made(busy(revision, pendingPrompt=waits), sign)

    told = receive_frame(stream, *f.dequeued(revision), f.begin("T2"), f.chunk("c", "T2"))

    assert told == []


@pytest.mark.parametrize("revision", LATER)
def test_a_turn_that_ends_while_a_prompt_waits_is_not_the_one_that_it_waits_for(
    revision: str,
) -> None:
    waits = {"messageId": f.PROMPT, "content": "two"}
    stream = made(busy(revision, pendingPrompt=waits))

    assert receive_frame(stream, f.done("ab", "T0"), *f.dequeued(revision)) == []
    assert receive_frame(stream, f.begin()) == [TurnStarted(f.TURN)]


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize(
    ("waits", "look", "is_ours"),
    [
        pytest.param({"threadId": "th1"}, f.THREAD, True, id="our thread"),
        pytest.param({"threadId": "th2"}, f.THREAD, False, id="another thread"),
        pytest.param({}, f.THREAD, False, id="no thread, and we are on one"),
        pytest.param({"threadId": "th1"}, {}, False, id="a thread, and we are on none"),
        pytest.param({}, {}, True, id="no thread at all"),
        pytest.param({}, {"channelId": "mine"}, False, id="a channel of our own"),
    ],
)
def test_a_v_a_prompt_that_waits_says_only_its_thread(
    revision: str, waits: f.Fields, look: f.Fields, *, is_ours: bool
) -> None:
    pending = {"messageId": f.PROMPT, "content": "two", **waits}
    channel = Channel(look.get("channelType", "web"), look.get("channelId", "default"))
    stream = made(channel=channel)

    told = receive_frame(stream, f.init(revision, pendingPrompt=pending))

    assert told == ([Queued()] if is_ours else outputs(NOTHING))


def test_an_odd_prompt_that_waits_is_none() -> None:
    assert receive_frame(made(), f.init("V", pendingPrompt=5)) == outputs(NOTHING)
