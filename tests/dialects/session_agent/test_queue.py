"""Our prompt in the agent's queue: its place there, and how it gets out (page 6, step 4)."""

from typing import Any

import pytest

from support import session_agent_frames as f
from support.session_agent_protocol import conversation, error, receive_frame
from turnwire.core.agent import ALIVE, Decoded
from turnwire.core.events import Queued, TurnStarted
from turnwire.core.requests import Channel
from turnwire.dialects.session_agent import progress
from turnwire.dialects.session_agent.turn import RESPONSE_S

STARTED = [TurnStarted(f.TURN)]


def moved(**data: Any) -> bytes:
    return f.status(promptDequeued=True, **data)


def came(**data: Any) -> bytes:
    return f.status(promptQueued=True, **data)


LOST = {"runnerConnected": False, "runnerDisconnected": True}


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_a_queued_prompt_is_followed_to_its_turn(revision: str) -> None:
    made = conversation(f.init(revision, runnerBusy=True))

    assert receive_frame(made, *f.queued(revision)) == [Queued()]
    assert (made.queued, made.prompt_id) == (True, f.PROMPT)
    assert receive_frame(made, *f.dequeued(revision)) == []
    assert not made.queued
    assert receive_frame(made, f.begin()) == STARTED


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_the_dispatch_of_our_prompt_is_a_sign_of_life(revision: str) -> None:
    *before, dispatched = f.dequeued(revision)
    made = conversation(f.init(revision, runnerBusy=True), *f.queued(revision), *before)

    assert made.receive_frame(dispatched, 0) == ALIVE


@pytest.mark.parametrize("revision", ["R", "A"])
def test_what_the_runner_gets_next_after_it_was_lost_is_our_prompt(revision: str) -> None:
    made = conversation(*f.running(revision), f.status(**LOST))

    assert made.queued
    assert made.receive_frame(moved(), 0) == ALIVE
    assert not made.queued


def test_a_prompt_in_the_queue_is_not_waited_for_as_an_echo() -> None:
    made = conversation(f.init("V", runnerBusy=True), *f.queued("V"))

    assert made.deadline == 30
    made.tick(RESPONSE_S)
    assert made.tick(RESPONSE_S) == Decoded()


@pytest.mark.nameless(
    "`status` with `promptDequeued` and no `messageId` (R, A)",
    "when as many prompts left the queue as stood before ours, or our echo comes with it",
    "R and A run one prompt at a time, in their order",
)
@pytest.mark.parametrize(
    ("position", "frames", "is_ours"),
    [
        pytest.param(1, [moved()], True, id="the first, counted"),
        pytest.param(1, [moved(remaining=0)], True, id="the first, and none is left"),
        pytest.param(None, [moved()], True, id="no position is told"),
        pytest.param(2, [moved(remaining=1)], False, id="the second: one goes"),
        pytest.param(2, [moved(), moved()], True, id="the second: two go"),
        pytest.param(3, [moved(remaining=0)], True, id="none is left, so we missed some"),
        pytest.param(1, [came(queuePosition=2), moved(remaining=1)], True, id="one came behind us"),
        pytest.param(1, [came(), moved()], True, id="one came behind us, uncounted"),
        pytest.param(
            2, [came(queuePosition=3), moved(remaining=2)], False, id="one ahead, one behind"
        ),
        pytest.param(
            1, [moved(remaining=1)], True, id="the system queued one behind us, without a word"
        ),
        pytest.param(
            2,
            [moved(remaining=2), moved(remaining=1)],
            True,
            id="one ahead, and the system's behind us",
        ),
        pytest.param(
            2, [moved(remaining=2)], False, id="one ahead, and the system's behind us: one goes"
        ),
        pytest.param(
            1,
            [f.status(**LOST, queuedPrompts=1), moved(remaining=0)],
            True,
            id="the runner is lost, and ran nothing",
        ),
        pytest.param(
            1,
            [f.status(**LOST, queuedPrompts=1), moved(remaining=1)],
            True,
            id="the same, and the system's behind us",
        ),
        pytest.param(
            1,
            [f.status(**LOST, queuedPrompts=2), moved(remaining=1)],
            False,
            id="the runner is lost, and what it ran goes first",
        ),
        pytest.param(
            1,
            [f.status(**LOST), moved(), moved()],
            True,
            id="the runner is lost, uncounted, and both go",
        ),
    ],
)
def test_r_counts_until_our_prompt_is_out(
    position: int | None, frames: list[bytes], *, is_ours: bool
) -> None:
    told = {} if position is None else {"queuePosition": position}
    queued = [f.user(), f.audit("prompt.queued"), came(**told)]
    made = conversation(f.init("R", runnerBusy=True), *queued)

    receive_frame(made, *frames)

    assert made.queued != is_ours
    assert (receive_frame(made, f.begin()) == STARTED) == is_ours


def test_a_place_that_moves_is_a_sign_of_life() -> None:
    made = conversation(f.init("R", runnerBusy=True), *f.queued("R", position=2))

    assert made.receive_frame(moved(remaining=1), 0) == ALIVE
    assert made.queued


def test_r_says_queued_of_the_prompt_it_has_just_told() -> None:
    direct = [f.init("R"), f.user(), f.user("three", "P3", by="u2")]
    made = conversation(*direct)

    assert receive_frame(made, came(queuePosition=1)) == []
    assert receive_frame(made, f.begin()) == STARTED


def test_r_hands_over_another_row_between_our_echo_and_our_place() -> None:
    made = conversation(f.init("R", runnerBusy=True), f.user(), moved(remaining=0))

    assert receive_frame(made, came(queuePosition=1)) == [Queued()]


@pytest.mark.parametrize(
    "frame",
    [
        moved(messageId="P9", channelType="web", channelId="default"),
        moved(messageId="P9", channelType="web", channelId="c2"),
        moved(),
        f.status(queueCleared=True, channelType="web", channelId="c2"),
        f.status(queueCleared=True, threadId="th1"),
        f.frame("queue.withdrawn", data={"messageId": "P9"}),
        f.frame("queue.state", data={"pending": None}),
        f.pending("three", "P3"),
        f.drained("V", "P9"),
        f.drained("A"),
        f.status(status="restoring"),
        f.audit("user.abort"),
        f.user("three", "P3", by="u2"),
        f.failure("not ours"),
        f.frame("error", message="Invalid JSON"),
        f.doing("idle"),
    ],
)
def test_what_happens_to_others_leaves_our_prompt_in_the_queue(frame: bytes) -> None:
    made = conversation(f.init("V", runnerBusy=True), *f.queued("V"))

    assert receive_frame(made, frame) == []
    assert made.queued
    assert receive_frame(made, *f.dequeued("V"), f.begin()) == STARTED


@pytest.mark.parametrize(
    ("revision", "frame", "says"),
    [
        ("V", f.frame("queue.withdrawn", data={"messageId": f.PROMPT}), progress.EVICTED),
        ("A", f.frame("queue.withdrawn", data={"messageId": f.PROMPT}), progress.EVICTED),
        ("R", f.status(queueCleared=True, cleared=1), progress.DROPPED),
        ("V", f.status(queueCleared=True, **f.CHANNEL), progress.DROPPED),
        ("R", f.audit("user.abort"), progress.DROPPED),
        ("V", f.status(status="terminated"), progress.SESSION_OVER),
    ],
)
def test_a_prompt_that_is_lost_from_the_queue_says_so(
    revision: str, frame: bytes, says: str
) -> None:
    made = conversation(f.init(revision, runnerBusy=True), *f.queued(revision))

    assert error(receive_frame(made, frame)) == says


def test_a_session_that_fails_while_our_prompt_waits_says_why() -> None:
    made = conversation(f.init("V", runnerBusy=True), *f.queued("V"))

    assert receive_frame(made, f.frame("error", error="no sandbox")) == []
    assert error(receive_frame(made, f.status(status="error"))) == "no sandbox"


def test_a_prompt_that_waited_before_we_came_is_not_ours() -> None:
    waits = {"messageId": "P1", "content": "two"}
    made = conversation(f.init("V", pendingPrompt=waits), f.pending(prompt="P1"))

    assert (made.queued, made.prompt_id) == (False, None)


@pytest.mark.parametrize(
    ("pending", "is_ours"),
    [(f.pending(threadId="th1"), True), (f.pending(), False), (f.pending(threadId="x"), False)],
)
def test_a_queued_prompt_of_a_thread_names_it(pending: bytes, *, is_ours: bool) -> None:
    made = conversation(f.init("V"), pending, channel=Channel("thread", "th1"))

    assert made.queued == is_ours


def test_a_queued_prompt_that_turns_out_to_be_anothers_is_let_go() -> None:
    made = conversation(f.init("V", runnerBusy=True), *f.queued("V"), now=40)

    assert receive_frame(made, f.user(by="u2"), f.begin(), now=50) == []
    assert (made.queued, made.prompt_id) == (False, None)
    assert error(made.tick(50 + RESPONSE_S)) == progress.NO_ECHO


def test_a_says_that_our_prompt_left_the_queue_after_it_told_its_message() -> None:
    made = conversation(f.init("A", runnerBusy=True), *f.queued("A"), *f.dequeued("A"))

    assert receive_frame(made, f.begin()) == STARTED
    assert made.deadline == 30
