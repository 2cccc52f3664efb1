"""What an abort would hit: never another user's turn, nor the queue (page 5.5)."""

import json

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation
from turnwire.core.agent import AbortScope
from turnwire.core.requests import Channel, PromptRequest
from turnwire.core.turn.inputs import ClientLeft, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS
from turnwire.dialects.session_agent import progress


@pytest.mark.parametrize(
    ("frames", "abort_scope"),
    [
        pytest.param([], AbortScope.NONE, id="not asked"),
        pytest.param([f.init("V")], AbortScope.SHARED, id="no echo yet"),
        pytest.param([f.init("V"), *f.queued("V")], AbortScope.SHARED, id="queued"),
        pytest.param([f.init("V"), f.user()], AbortScope.SHARED, id="dispatched, nothing seen"),
        pytest.param(
            [f.init("V"), f.user(), f.doing("thinking")], AbortScope.OURS, id="V: seen at work"
        ),
        pytest.param(
            [f.init("R"), f.user(), f.doing("thinking")],
            AbortScope.OURS,
            id="R: at work, none before",
        ),
        pytest.param(
            [f.init("R", runnerBusy=True), f.user(), f.doing("thinking")],
            AbortScope.SHARED,
            id="R: at work on another, perhaps",
        ),
        pytest.param(
            [f.init("R", runnerBusy=True), *f.queued("R"), *f.dequeued("R"), f.doing("thinking")],
            AbortScope.OURS,
            id="R: at work after the queue",
        ),
        pytest.param(
            [
                f.init("R", runnerBusy=True),
                f.begin("turn-0"),
                *f.queued("R"),
                *f.dequeued("R"),
                f.status(runnerDisconnected=True, queuedPrompts=0),
                f.user(),
                f.doing("thinking"),
            ],
            AbortScope.OURS,
            id="R: at work again, and the turn before ours is long over",
        ),
        pytest.param(f.running("R"), AbortScope.OURS, id="R: our turn"),
        pytest.param(f.running("A"), AbortScope.OURS, id="A: our turn"),
        pytest.param(f.running("V"), AbortScope.OURS, id="V: our turn"),
        pytest.param(
            [*f.running("R"), f.user("x", "P3", by="u2"), f.status(promptQueued=True)],
            AbortScope.NONE,
            id="R: another waits, whom it would drop",
        ),
        pytest.param(
            [
                *f.running("R"),
                f.status(promptQueued=True, queuePosition=1),
                f.status(queueCleared=True),
            ],
            AbortScope.OURS,
            id="R: the queue is cleared",
        ),
        pytest.param(
            [*f.running("V"), f.pending("x", "P3")], AbortScope.OURS, id="V keeps its queue"
        ),
        pytest.param(
            [*f.running("V"), f.begin("turn-2", channelId="c2")],
            AbortScope.NONE,
            id="V: another channel, which it would stop",
        ),
        pytest.param(
            [*f.running("V"), f.chunk("x", "turn-2", channelId="c2")],
            AbortScope.NONE,
            id="V: another channel, seen late",
        ),
        pytest.param(
            [*f.running("V"), f.begin("turn-2", channelId="c2"), f.done("x", "turn-2")],
            AbortScope.OURS,
            id="V: the other channel is done",
        ),
        pytest.param(
            [f.init("V", runnerBusy=True), f.user(), f.begin()],
            AbortScope.NONE,
            id="V: busy with a turn of which nothing is known",
        ),
        pytest.param(
            [f.init("V", runnerBusy=True), f.done("x", "turn-0"), f.user(), f.begin()],
            AbortScope.OURS,
            id="V: that one ended",
        ),
        pytest.param(
            [f.init("V", runnerBusy=True), f.drained("V", "P0"), f.user(), f.begin()],
            AbortScope.OURS,
            id="V: the session drained",
        ),
        pytest.param(
            [
                f.init("V", runnerBusy=True),
                f.begin("turn-0"),
                f.done("x", "turn-0"),
                *f.running("V"),
            ],
            AbortScope.OURS,
            id="V: that one began, and ended",
        ),
        pytest.param(
            [
                f.init("V", runnerBusy=True),
                f.user("x", "P3", by="u2", channelId="c2"),
                f.begin("turn-0", channelId="c2"),
                f.done("x", "turn-0"),
                *f.running("V"),
            ],
            AbortScope.NONE,
            id="V: another one began and ended, which is not that one",
        ),
        pytest.param(
            [f.init("V"), f.begin("turn-0", channelId="c2"), f.drained("V", "P0"), *f.running("V")],
            AbortScope.OURS,
            id="V: the other channel drained without a finish",
        ),
        pytest.param(
            [*f.running("V"), f.frame("message.updated", data={"id": "old", "role": "assistant"})],
            AbortScope.OURS,
            id="V: an old message is stamped",
        ),
        pytest.param([*f.running("V"), f.user()], AbortScope.OURS, id="V: our echo is told again"),
        pytest.param([*f.running("V"), f.drained("V")], AbortScope.SHARED, id="perhaps over"),
        pytest.param(
            [*f.running("V"), f.drained("V"), f.chunk("a")], AbortScope.OURS, id="not over"
        ),
        pytest.param(
            [*f.running("V"), f.updated(f.finish("canceled"))],
            AbortScope.SHARED,
            id="canceled, and perhaps begun anew",
        ),
        pytest.param([*f.running("V"), f.done("x")], AbortScope.NONE, id="over"),
        pytest.param(
            [*f.running("V"), f.updated(f.tool("running"), f.END)],
            AbortScope.NONE,
            id="finished",
        ),
    ],
)
def test_whom_an_abort_would_hit(frames: list[bytes], abort_scope: AbortScope) -> None:
    made = conversation(*frames)

    assert made.abort_scope is abort_scope
    assert bool(made.abort()) == (abort_scope is AbortScope.OURS)


def test_an_abort_is_scoped_to_its_thread_and_hits_no_other() -> None:
    made = conversation(
        f.init("V"),
        f.user(**f.THREAD),
        f.begin(**f.THREAD),
        f.begin("turn-2"),
        channel=Channel("thread", "th1"),
    )

    (abort,) = made.abort()

    assert json.loads(abort) == {"type": "abort", "channelType": "thread", "channelId": "th1"}


def abandoned(revision: str) -> Turn:
    """Our prompt waits behind another turn, and its client has left."""
    conversation_ = DIALECTS["session-agent"].prompt(
        PromptRequest(text="two", prompt_id="p1", user_id=f.ME)
    )
    turn = Turn(conversation_, Limits(), UIMessageStream())
    turn.handle(Opened(), 0)
    turn.frames([f.init(revision, runnerBusy=True), *f.queued(revision)], 1)
    turn.frames([f.begin("turn-0"), f.chunk("x", "turn-0")], 2)
    assert turn.handle(ClientLeft(), 3).to_agent == ()
    assert turn.outcome is None
    return turn


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("sign", [f.doing("thinking"), f.begin()])
def test_a_client_that_left_in_the_queue_aborts_at_the_first_sign_of_its_turn(
    revision: str, sign: bytes
) -> None:
    turn = abandoned(revision)

    assert turn.frames([f.done("x", "turn-0"), *f.dequeued(revision)], 4).to_agent == ()
    (abort,) = turn.frames([sign], 5).to_agent
    assert json.loads(abort)["type"] == "abort"
    assert turn.outcome is Outcome.CLIENT_GONE


GONE = f.frame("queue.withdrawn", data={"messageId": f.PROMPT})
BUSY = f.user("x", "P3", by="u2", channelId="c2")


@pytest.mark.parametrize(
    ("revision", "frames", "outcome"),
    [
        pytest.param("V", [GONE], Outcome.ABANDONED, id="evicted"),
        pytest.param("R", [f.audit("user.abort")], Outcome.ABANDONED, id="the queue is emptied"),
        pytest.param("A", [f.status(status="error")], Outcome.ABANDONED, id="the session died"),
        pytest.param(
            "V",
            [f.done("x", "turn-0"), BUSY, *f.dequeued("V"), f.doing("thinking")],
            Outcome.CLIENT_GONE,
            id="it runs, and an abort would stop another channel",
        ),
        pytest.param(
            "V",
            [*f.dequeued("V"), f.begin(), f.done("x")],
            Outcome.CLIENT_GONE,
            id="it began and ended in one read",
        ),
    ],
)
def test_a_client_that_left_in_the_queue_is_not_waited_for_in_vain(
    revision: str, frames: list[bytes], outcome: Outcome
) -> None:
    turn = abandoned(revision)

    assert turn.frames(frames, 4).to_agent == ()
    assert turn.outcome is outcome


def test_a_client_that_left_while_its_turn_was_perhaps_over_aborts_it_if_it_is_not() -> None:
    turn = abandoned("V")

    assert turn.frames([*f.dequeued("V"), f.failure("no"), f.doing("idle")], 4).to_agent == ()
    assert turn.outcome is None
    assert turn.frames([f.begin()], 5).to_agent


def test_a_client_that_left_while_its_turn_was_perhaps_over_is_done_when_it_is() -> None:
    turn = abandoned("V")

    turn.frames([*f.dequeued("V"), f.failure("no")], 4)
    assert turn.handle(Tick(), 7).to_agent == ()
    assert turn.outcome is Outcome.ABANDONED


# Aborts of others (page 5.5).

SAID = "User aborted agent"
UNSCOPED = f.frame("agentStatus", status="idle")


@pytest.mark.nameless(
    "`audit_log` of an abort without a channel",
    "while our prompt is being worked on",
    "it stops every channel; V names them in a frame before it",
)
@pytest.mark.parametrize(
    ("revision", "idle", "summary", "stops"),
    [
        pytest.param("V", f.doing("idle", **f.THREAD), "", False, id="V: a thread"),
        pytest.param("V", f.doing("idle", channelId="c2"), "", True, id="V: all of them"),
        pytest.param("V", UNSCOPED, SAID, True, id="V: all of them, plainly"),
        pytest.param("A", UNSCOPED, f"{SAID} (channel: web:default)", True, id="A: ours"),
        pytest.param("A", UNSCOPED, f"{SAID} (channel: web:c2)", False, id="A: another"),
        pytest.param("R", UNSCOPED, f"{SAID} (channel: web:c2)", False, id="R: another"),
        pytest.param("R", UNSCOPED, "by Ann", True, id="R: whatever runs"),
    ],
)
def test_which_aborts_of_others_end_our_turn(
    revision: str, idle: bytes, summary: str, *, stops: bool
) -> None:
    made = conversation(*f.running(revision), f.chunk("a"), idle)

    made.receive_frame(f.audit("user.abort", summary=summary), 10)

    assert made.deadline == (10 + progress.ABORT_GRACE_S if stops else 30)


def test_an_abort_of_a_thread_is_that_threads_alone() -> None:
    made = conversation(
        f.init("V"),
        f.user(**f.THREAD),
        f.begin(**f.THREAD),
        channel=Channel("thread", "th1"),
    )

    made.receive_frame(f.doing("idle", **f.THREAD), 10)
    made.receive_frame(f.audit("user.abort"), 10)

    assert made.deadline == 10 + progress.ABORT_GRACE_S


def test_r_empties_the_queue_of_a_channel_alone_where_it_says_so() -> None:
    made = conversation(f.init("R", runnerBusy=True), *f.queued("R"), UNSCOPED)

    made.receive_frame(f.audit("user.abort", summary=f"{SAID} (channel: web:c2)"), 0)

    assert made.queued


def test_a_client_that_left_before_init_has_asked_nothing() -> None:
    turn = Turn(
        DIALECTS["session-agent"].prompt(PromptRequest(text="two", prompt_id="p1")),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Opened(), 0)

    assert turn.handle(ClientLeft(), 1).to_agent == ()
    assert turn.outcome is Outcome.CLIENT_GONE
