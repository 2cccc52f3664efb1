"""Other prompts of the session: never taken for ours, and what becomes of ours when they come."""

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, error, receive_frame
from turnwire.core.agent import AbortScope, Decoded
from turnwire.core.events import Queued, Reason, TurnFinished, TurnStarted
from turnwire.core.ui_stream.tool_calls import CALLS_MAX
from turnwire.dialects.session_agent import progress

STARTED = [TurnStarted(f.TURN)]
CANCELED = TurnFinished(reason=Reason.CANCELED)
OTHER = {"channelType": "web", "channelId": "c2"}
LOST = f.status(runnerConnected=False, runnerDisconnected=True, queuedPrompts=0)
NEXT = f.user("three", "P3", by="u2")
"""Another prompt of our channel. A and V tell one when the runner gets it."""


def dequeued(prompt: str = f.PROMPT, **fields: str) -> bytes:
    return f.status(promptDequeued=True, remaining=0, messageId=prompt, **{**f.CHANNEL, **fields})


# Dispatched on our channel, though nothing told that ours is over (page 5.6).


@pytest.mark.parametrize("revision", ["A", "V"])
def test_a_prompt_dispatched_after_ours_gets_the_next_turn(revision: str) -> None:
    made = conversation(f.init(revision), f.user(), NEXT)

    assert (
        receive_frame(made, f.begin("turn-2"), f.chunk("x", "turn-2"), f.done("x", "turn-2")) == []
    )
    assert error(made.tick(progress.COMPLETION_GRACE_S)) == progress.NO_OUTPUT


@pytest.mark.parametrize("revision", ["A", "V"])
def test_a_turn_after_ours_that_another_prompt_began_is_no_fail_over(revision: str) -> None:
    made = conversation(*f.running(revision), f.chunk("a"), NEXT)

    assert receive_frame(made, f.begin("turn-2"), f.chunk("x", "turn-2")) == []
    assert made.tick(progress.COMPLETION_GRACE_S) == Decoded([CANCELED])


def test_a_turn_that_was_aborted_is_over_when_the_next_one_begins() -> None:
    made = conversation(*f.running("V"), f.chunk("a"), f.audit("user.abort"), NEXT)

    assert receive_frame(made, f.begin("turn-2")) == [CANCELED]


def test_a_canceled_turn_does_not_go_on_in_the_turn_of_another() -> None:
    made = conversation(*f.running("V"), f.updated(f.finish("canceled")), NEXT)

    assert receive_frame(made, f.begin("turn-2")) == []
    assert made.tick(progress.COMPLETION_GRACE_S) == Decoded([CANCELED])


def test_a_prompt_that_is_only_collected_does_not_end_ours() -> None:
    collected = f.status(collectPending=True, collectCount=1, **f.CHANNEL)
    made = conversation(*f.running("V"), f.chunk("a"), NEXT, collected)

    assert made.abort_scope is AbortScope.OURS
    assert receive_frame(made, f.begin("turn-2"), f.chunk("b", "turn-2")) == [
        TurnStarted("turn-2"),
        "b",
    ]


def test_r_tells_a_prompt_when_it_comes_so_the_next_turn_is_still_ours() -> None:
    made = conversation(f.init("R"), f.user(), NEXT, f.status(promptQueued=True, queuePosition=1))

    assert receive_frame(made, f.begin()) == STARTED


def test_a_turn_that_is_told_to_begin_twice_is_not_told_twice() -> None:
    made = conversation(*f.running("V"), f.chunk("a"))

    assert receive_frame(made, f.begin(), f.chunk("b"), f.done("ab")) == [
        "b",
        TurnFinished(reason=Reason.END_TURN, final_text="ab"),
    ]


# A runner that was lost (page 5.10).


def test_a_prompt_that_is_dispatched_before_ours_is_again_has_its_own_turn() -> None:
    made = conversation(*f.running("V"), LOST, NEXT, dequeued("P3"))

    assert receive_frame(made, f.begin("turn-2"), f.done("x", "turn-2")) == []
    assert receive_frame(made, dequeued(), f.begin("turn-3")) == [TurnStarted("turn-3")]


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (f.frame("queue.withdrawn", data={"messageId": f.PROMPT}), progress.EVICTED),
        (f.status(queueCleared=True, cleared=1), progress.DROPPED),
    ],
)
def test_a_prompt_may_be_lost_while_it_waits_to_be_dispatched_again(
    frame: bytes, says: str
) -> None:
    made = conversation(*f.running("V"), LOST)

    assert error(receive_frame(made, frame)) == says


def test_a_copy_of_our_prompt_that_is_done_at_once_is_not_its_end() -> None:
    made = conversation(*f.running("V"), f.chunk("a"), LOST, dequeued(), f.drained("V"))

    assert made.tick(progress.REPEATED_GRACE_S - 1) == Decoded()
    assert receive_frame(made, f.chunk("b")) == ["b"]
    assert made.abort_scope is AbortScope.OURS
    assert receive_frame(made, f.drained("V"), now=40) == []
    made.tick(40)  # a ping
    assert made.tick(40 + progress.REPEATED_GRACE_S) == Decoded([CANCELED])


# A session that drained while nothing told of our end.


def test_a_session_that_drained_with_another_prompt_has_ended_ours() -> None:
    made = conversation(*f.running("V"), f.chunk("a"), f.drained("V", "P9"))

    assert made.tick(progress.REPEATED_GRACE_S - 1) == Decoded()
    assert made.tick(progress.REPEATED_GRACE_S) == Decoded([CANCELED])


def test_a_prompt_on_its_way_to_the_runner_does_not_keep_a_session_from_draining() -> None:
    made = conversation(f.init("V"), f.user(), f.drained("V", "P9"))

    assert error(made.tick(progress.REPEATED_GRACE_S)) is None
    assert receive_frame(made, f.begin()) == STARTED


# Whose prompt waits: `queue.state` names no author, but the audit log does before it.


def test_a_queued_prompt_with_our_text_is_not_ours_if_another_user_asked_it() -> None:
    made = conversation(f.init("V", runnerBusy=True), f.audit("prompt.queued", actorId="u2"))

    assert receive_frame(made, f.pending(prompt="P1")) == []
    gone = f.frame("queue.withdrawn", data={"messageId": "P1", "content": "two"})
    ours = f.audit("prompt.queued", actorId=f.ME)
    assert receive_frame(made, gone, f.audit("user.queue_withdraw"), ours, f.pending()) == [
        Queued()
    ]
    assert made.prompt_id == f.PROMPT


def test_an_author_is_named_for_one_prompt() -> None:
    made = conversation(f.init("V", runnerBusy=True), f.audit("prompt.queued", actorId="u2"))

    assert receive_frame(made, f.pending("x", "P1"), f.pending()) == [Queued()]


@pytest.mark.nameless(
    "`queue.state` whose author the audit log does not name",
    "if its text and its thread are ours; not any more once its echo names another user",
    "the frame itself has no author",
)
def test_the_history_of_the_audit_log_names_no_author() -> None:
    told = f.audit("prompt.queued", actorId="u2", createdAt=1772100000)
    made = conversation(f.init("V", runnerBusy=True), told)

    assert receive_frame(made, f.pending()) == [Queued()]


# What an abort of ours would hit.


@pytest.mark.parametrize(
    ("frames", "abort_scope"),
    [
        pytest.param([f.user("x", "P3", by="u2", **OTHER)], AbortScope.NONE, id="dispatched"),
        pytest.param([dequeued("P3", **OTHER)], AbortScope.NONE, id="the system's, dispatched"),
        pytest.param(
            [f.user("x", "P3", by="u2", **OTHER), f.begin("turn-2", **OTHER)],
            AbortScope.NONE,
            id="it runs",
        ),
        pytest.param(
            [
                f.user("x", "P3", by="u2", **OTHER),
                f.begin("turn-2", **OTHER),
                f.done("x", "turn-2"),
            ],
            AbortScope.OURS,
            id="it is done",
        ),
        pytest.param(
            [f.user("x", "P3", by="u2", **OTHER), f.drained("V", "P3"), f.chunk("a")],
            AbortScope.OURS,
            id="it is over without a turn",
        ),
    ],
)
def test_v_stops_every_channel_so_a_prompt_at_work_on_another_is_spared(
    frames: list[bytes], abort_scope: AbortScope
) -> None:
    assert conversation(*f.running("V"), *frames).abort_scope is abort_scope


def test_the_calls_remembered_are_those_of_a_snapshot() -> None:
    made = conversation(*f.running("R"))

    for first in range(0, 3 * CALLS_MAX, CALLS_MAX):
        calls = [f.tool("completed", f"c{first + n}") for n in range(CALLS_MAX)]
        assert len(receive_frame(made, f.updated(*calls), f.updated(*calls))) == CALLS_MAX

    assert len(made._progress._snapshots._calls) <= 2 * CALLS_MAX
