"""What an abort would hit: never another user's turn, nor the queue (page 5.5)."""

import json

import pytest

from dialects.session_agent import frames as f
from dialects.session_agent.talk import conversation
from turnwire.core.dialect import Ask, Reach
from turnwire.core.limits import Limits
from turnwire.core.outcome import Outcome
from turnwire.core.turn import Turn
from turnwire.dialects import DIALECTS


@pytest.mark.parametrize(
    ("frames", "reach"),
    [
        pytest.param([], Reach.NOTHING, id="not asked"),
        pytest.param([f.init("V")], Reach.OTHERS, id="no echo yet"),
        pytest.param([f.init("V"), *f.queued("V")], Reach.OTHERS, id="queued"),
        pytest.param([f.init("V"), f.user()], Reach.OTHERS, id="dispatched, nothing seen"),
        pytest.param(
            [f.init("V"), f.user(), f.doing("thinking")], Reach.OURS, id="V: seen at work"
        ),
        pytest.param(
            [f.init("R"), f.user(), f.doing("thinking")], Reach.OURS, id="R: at work, none before"
        ),
        pytest.param(
            [f.init("R", runnerBusy=True), f.user(), f.doing("thinking")],
            Reach.OTHERS,
            id="R: at work on another, perhaps",
        ),
        pytest.param(
            [f.init("R", runnerBusy=True), *f.queued("R"), *f.dequeued("R"), f.doing("thinking")],
            Reach.OURS,
            id="R: at work after the queue",
        ),
        pytest.param(f.running("R"), Reach.OURS, id="R: our turn"),
        pytest.param(f.running("A"), Reach.OURS, id="A: our turn"),
        pytest.param(f.running("V"), Reach.OURS, id="V: our turn"),
        pytest.param(
            [*f.running("R"), f.user("x", "P3", by="u2"), f.status(promptQueued=True)],
            Reach.NOTHING,
            id="R: another waits, whom it would drop",
        ),
        pytest.param(
            [
                *f.running("R"),
                f.status(promptQueued=True, queuePosition=1),
                f.status(queueCleared=True),
            ],
            Reach.OURS,
            id="R: the queue is cleared",
        ),
        pytest.param([*f.running("V"), f.pending("x", "P3")], Reach.OURS, id="V keeps its queue"),
        pytest.param(
            [*f.running("V"), f.begin("turn-2", channelId="c2")],
            Reach.NOTHING,
            id="V: another channel, which it would stop",
        ),
        pytest.param(
            [*f.running("V"), f.chunk("x", "turn-2", channelId="c2")],
            Reach.NOTHING,
            id="V: another channel, seen late",
        ),
        pytest.param(
            [*f.running("V"), f.begin("turn-2", channelId="c2"), f.done("x", "turn-2")],
            Reach.OURS,
            id="V: the other channel is done",
        ),
        pytest.param(
            [f.init("V", runnerBusy=True), f.user(), f.begin()],
            Reach.NOTHING,
            id="V: busy with a turn of which nothing is known",
        ),
        pytest.param(
            [f.init("V", runnerBusy=True), f.done("x", "turn-0"), f.user(), f.begin()],
            Reach.OURS,
            id="V: that one ended",
        ),
        pytest.param(
            [f.init("V", runnerBusy=True), f.drained("V", "P0"), f.user(), f.begin()],
            Reach.OURS,
            id="V: the session drained",
        ),
        pytest.param(
            [
                f.init("V", runnerBusy=True),
                f.begin("turn-0"),
                f.done("x", "turn-0"),
                *f.running("V"),
            ],
            Reach.OURS,
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
            Reach.NOTHING,
            id="V: another one began and ended, which is not that one",
        ),
        pytest.param(
            [f.init("V"), f.begin("turn-0", channelId="c2"), f.drained("V", "P0"), *f.running("V")],
            Reach.OURS,
            id="V: the other channel drained without a finish",
        ),
        pytest.param(
            [*f.running("V"), f.frame("message.updated", data={"id": "old", "role": "assistant"})],
            Reach.OURS,
            id="V: an old message is stamped",
        ),
        pytest.param([*f.running("V"), f.user()], Reach.OURS, id="V: our echo is told again"),
        pytest.param([*f.running("V"), f.drained("V")], Reach.NOTHING, id="perhaps over"),
        pytest.param([*f.running("V"), f.done("x")], Reach.NOTHING, id="over"),
        pytest.param(
            [*f.running("V"), f.updated(f.tool("running"), f.END)], Reach.NOTHING, id="finished"
        ),
    ],
)
def test_whom_an_abort_would_hit(frames: list[bytes], reach: Reach) -> None:
    made = conversation(*frames)

    assert made.reach is reach
    assert bool(made.abort()) == (reach is Reach.OURS)


def test_an_abort_is_scoped_to_its_thread_and_hits_no_other() -> None:
    made = conversation(
        f.init("V"),
        f.user(**f.THREAD),
        f.begin(**f.THREAD),
        f.begin("turn-2"),
        channel_type="thread",
        channel_id="th1",
    )

    (abort,) = made.abort()

    assert json.loads(abort) == {"type": "abort", "channelType": "thread", "channelId": "th1"}


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_client_that_left_in_the_queue_aborts_when_its_turn_begins(revision: str) -> None:
    conversation_ = DIALECTS["session-agent"].prompt(Ask(text="two", prompt_id="p1", user_id=f.ME))
    turn = Turn(conversation_, Limits())
    turn.opened(0)
    turn.frames([f.init(revision, runnerBusy=True), *f.queued(revision)], 1)
    turn.frames([f.begin("turn-0"), f.chunk("x", "turn-0")], 2)

    assert turn.client_left(3).tell == ()
    assert turn.frames([f.done("x", "turn-0"), *f.dequeued(revision)], 4).tell == ()
    (abort,) = turn.frames([f.begin()], 5).tell
    assert json.loads(abort)["type"] == "abort"
    assert turn.outcome is Outcome.CLIENT_GONE


def test_a_client_that_left_before_init_has_asked_nothing() -> None:
    turn = Turn(DIALECTS["session-agent"].prompt(Ask(text="two", prompt_id="p1")), Limits())
    turn.opened(0)

    assert turn.client_left(1).tell == ()
    assert turn.outcome is Outcome.CLIENT_GONE
