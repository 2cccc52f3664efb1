"""Stopping on the `session-agent` wire: whom an abort would hit, and what says so (page 5.5)."""

import json
from typing import Any

import pytest

from support import session_agent_frames as f
from turnwire.core.agent import NEVER
from turnwire.core.operations import StopResult
from turnwire.core.rejection import Rejection
from turnwire.core.requests import Channel, StopRequest
from turnwire.dialects.session_agent import SessionAgent
from turnwire.dialects.session_agent.stop import OBSERVE_S, StopOperation

LATER = ("A", "V")
OTHER: f.Fields = {"channelId": "other"}
ABORT = {"type": "abort", "channelType": "web", "channelId": "default"}
THREAD = {"channel": Channel("thread", "th1")}
IDLE = f.frame("agentStatus", status="idle")
STOPPED = StopResult(stopped=True, turn_id=f.TURN, reason="canceled")
TURN: f.Fields = {"id": f.TURN, "role": "assistant", "content": "", "parts": [], **f.CHANNEL}
PROMPT: f.Fields = {"id": "P1", "role": "user", "content": "one", **f.CHANNEL}


def stopping(**stop: Any) -> StopOperation:
    given: dict[str, Any] = {"user_id": f.ME, "init_s": 2, "verdict_s": 5, **stop}
    made = SessionAgent().stop(StopRequest(**given))
    assert made.connection_opened(0) == ()
    return made


def receive_frame(made: StopOperation, *frames: bytes, now: float = 0) -> list[dict[str, Any]]:
    """What it sends on hearing these."""
    sent: list[dict[str, Any]] = []
    for frame in frames:
        assert made.result is None
        sent += map(json.loads, made.receive_frame(frame, now))
    return sent


def late(made: StopOperation) -> list[dict[str, Any]]:
    """What it sends when its deadline passes."""
    assert made.tick(made.deadline - 0.1) == ()
    return [json.loads(frame) for frame in made.tick(made.deadline)]


def init_r(*entries: Any, **data: Any) -> bytes:
    told = json.loads(f.init("R", **{"runnerBusy": True} | data))
    told["session"]["messages"] = entries
    return json.dumps(told).encode()


# R: what runs, and who waits.


def test_r_the_running_turn_is_stopped_when_its_runner_says_so() -> None:
    made = stopping()

    assert receive_frame(made, init_r(PROMPT, TURN)) == [ABORT]
    assert receive_frame(made, IDLE, f.audit("user.abort"), IDLE) == []
    assert made.result is None
    receive_frame(made, f.status(runnerBusy=False, aborted=True))
    assert made.result == STOPPED
    assert made.deadline == NEVER


def test_r_a_prompt_whose_turn_has_not_begun_is_stopped() -> None:
    made = stopping()

    assert receive_frame(made, init_r(PROMPT)) == [ABORT]
    receive_frame(made, f.status(runnerBusy=False, aborted=True))
    assert made.result == StopResult(stopped=True, turn_id=None, reason="canceled")


def test_r_an_abort_would_empty_the_queue_of_others() -> None:
    made = stopping()

    assert receive_frame(made, init_r(PROMPT, TURN, {**PROMPT, "id": "P2"}, promptsQueued=1)) == []
    assert made.result is Rejection.SHARED


def test_r_what_waits_while_it_is_not_known_what_runs_is_not_harmed_either() -> None:
    made = stopping()

    assert receive_frame(made, init_r(promptsQueued=1)) == []
    assert made.result is Rejection.SHARED


def test_r_a_turn_of_another_channel_is_not_stopped() -> None:
    made = stopping()

    assert receive_frame(made, init_r({**PROMPT, **OTHER}, {**TURN, **OTHER})) == []
    assert made.result == StopResult(stopped=False, turn_id=None, reason="idle")


def test_r_a_named_turn_is_stopped_on_whichever_channel_it_runs() -> None:
    made = stopping(turn_id=f.TURN)

    assert receive_frame(made, init_r({**PROMPT, **OTHER}, {**TURN, **OTHER})) == [ABORT]


@pytest.mark.parametrize("entries", [[PROMPT, TURN], [PROMPT]])
def test_r_another_turn_than_the_named_one_is_not_stopped(entries: list[f.Fields]) -> None:
    made = stopping(turn_id="T9")

    assert receive_frame(made, init_r(*entries)) == []
    assert made.result is Rejection.OTHER_TURN


def test_r_what_init_does_not_name_is_looked_for() -> None:
    made = stopping()

    assert receive_frame(made, init_r()) == []
    assert late(made) == [ABORT]


def test_r_a_turn_that_was_over_by_itself_was_not_stopped() -> None:
    made = stopping()
    receive_frame(made, init_r(PROMPT, TURN), f.drained("R"))

    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="end_turn")


def test_r_says_nothing_of_an_abort_that_hit_nothing() -> None:
    made = stopping()
    receive_frame(made, init_r(PROMPT, TURN), IDLE, f.audit("user.abort"))

    assert late(made) == []
    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="no_verdict")


@pytest.mark.parametrize(
    ("reason", "stopped"), [("end_turn", False), ("error", False), ("canceled", True)]
)
def test_r_a_turn_that_is_over_already_says_how_it_ended(reason: str, *, stopped: bool) -> None:
    made = stopping(turn_id=f.TURN)
    other = {**TURN, "id": "T0", "parts": [f.END]}

    receive_frame(
        made, init_r(PROMPT, other, {**TURN, "parts": [f.finish(reason)]}, runnerBusy=False)
    )

    assert made.result == StopResult(stopped=stopped, turn_id=f.TURN, reason=reason)


# All revisions.


@pytest.mark.parametrize("revision", f.REVISIONS)
@pytest.mark.parametrize("named", [None, f.TURN])
def test_nothing_runs(revision: str, named: str | None) -> None:
    made = stopping(turn_id=named)

    assert receive_frame(made, f.init(revision)) == []
    assert made.result == StopResult(stopped=False, turn_id=named, reason="idle")


@pytest.mark.parametrize("revision", f.REVISIONS)
def test_in_a_dead_session_nothing_runs(revision: str) -> None:
    made = stopping()

    receive_frame(made, f.init(revision, alive="terminated", runnerBusy=True))

    assert made.result == StopResult(stopped=False, turn_id=None, reason="idle")


def test_without_an_init_there_is_no_answer() -> None:
    made = stopping()

    assert receive_frame(made, f.chunk("a")) == []
    assert late(made) == []
    assert made.result is Rejection.SILENT


def test_an_agent_that_leaves_before_it_was_asked() -> None:
    made = stopping()

    made.connection_lost()

    assert made.result is Rejection.SILENT


def test_an_agent_that_leaves_before_it_answers() -> None:
    made = stopping()
    receive_frame(made, init_r(PROMPT, TURN))

    made.connection_lost()

    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="no_verdict")


def test_what_cannot_be_read_says_nothing() -> None:
    made = stopping()

    assert receive_frame(made, b"{", init_r(PROMPT, TURN), f.init("R")) == [ABORT]
    assert made.frame_stats.malformed == 1


# A and V: who shows himself at work.


@pytest.mark.parametrize("revision", LATER)
def test_the_turn_of_our_channel_is_stopped_after_a_look_at_the_others(revision: str) -> None:
    made = stopping()

    assert receive_frame(made, f.init(revision, runnerBusy=True), f.chunk("a")) == []
    assert made.deadline == OBSERVE_S
    assert late(made) == [ABORT]
    receive_frame(made, IDLE, f.audit("user.abort"), IDLE, f.drained(revision))
    assert made.result == STOPPED


@pytest.mark.parametrize("revision", LATER)
def test_a_silent_turn_is_stopped_too(revision: str) -> None:
    made = stopping()
    receive_frame(made, f.init(revision, runnerBusy=True))

    assert late(made) == [ABORT]


@pytest.mark.parametrize("revision", LATER)
@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param(f.chunk("a", **OTHER), id="text"),
        pytest.param(f.updated(f.tool("running"), **OTHER), id="a tool"),
        pytest.param(f.begin(**OTHER), id="a turn's start"),
        pytest.param(f.doing("thinking", **OTHER), id="a status"),
        pytest.param(
            f.frame("interactive_prompt", prompt={"id": "q", "context": {**f.CHANNEL, **OTHER}}),
            id="a question",
        ),
        pytest.param(f.frame("question", questionId="q", **{**f.CHANNEL, **OTHER}), id="R's"),
    ],
)
def test_where_another_channel_shows_itself_nothing_is_stopped(
    revision: str, theirs: bytes
) -> None:
    made = stopping()

    assert receive_frame(made, f.init(revision, runnerBusy=True), f.chunk("a"), theirs) == []
    assert made.result is Rejection.SHARED


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(f.doing("idle", **OTHER), id="an idle status"),
        pytest.param(f.begin(content="x", **OTHER), id="a forwarded entry"),
        pytest.param(f.updated(turn="P1", role="user", **OTHER), id="a prompt"),
        pytest.param(f.status(runnerConnected=True), id="a lifecycle"),
    ],
)
def test_what_does_not_show_another_channel_at_work(frame: bytes) -> None:
    made = stopping()

    receive_frame(made, f.init("V", runnerBusy=True), frame)

    assert late(made) == [ABORT]


@pytest.mark.parametrize("ours", [f.chunk("a", **f.THREAD), f.doing("thinking", **f.THREAD)])
def test_the_turn_of_a_thread_is_stopped_as_soon_as_it_is_seen(ours: bytes) -> None:
    made = stopping(**THREAD)

    sent = receive_frame(made, f.init("V", runnerBusy=True), f.chunk("x"), ours)

    assert sent == [{**ABORT, "channelType": "thread", "channelId": "th1"}]


def test_a_thread_that_is_not_seen_while_another_is_is_left_alone() -> None:
    """A would stop the other one."""
    made = stopping(**THREAD)

    assert receive_frame(made, f.init("A", runnerBusy=True), f.chunk("x")) == []
    assert late(made) == []
    assert made.result is Rejection.SHARED


def test_the_named_turn_is_stopped() -> None:
    made = stopping(turn_id=f.TURN)
    receive_frame(made, f.init("V", runnerBusy=True), f.chunk("a"))

    assert late(made) == [ABORT]


def test_a_named_turn_that_is_not_seen_is_stopped_even_so() -> None:
    made = stopping(turn_id=f.TURN)
    receive_frame(made, f.init("V", runnerBusy=True), f.doing("tool_calling"))

    assert late(made) == [ABORT]
    receive_frame(made, f.drained("V"))
    assert made.result == STOPPED


def test_another_turn_than_the_named_one_is_not_stopped() -> None:
    made = stopping(turn_id="T9")

    assert receive_frame(made, f.init("V", runnerBusy=True), f.chunk("a")) == []
    assert made.result is Rejection.OTHER_TURN


def test_a_runner_that_is_done_while_we_look_has_nothing_to_stop() -> None:
    made = stopping()

    receive_frame(made, f.init("V", runnerBusy=True), f.drained("V"))

    assert made.result == StopResult(stopped=False, turn_id=None, reason="idle")


@pytest.mark.parametrize("sees_it", [True, False])
def test_a_turn_that_ends_while_we_look_says_how(*, sees_it: bool) -> None:
    made = stopping()

    receive_frame(
        made, f.init("V", runnerBusy=True), *([f.chunk("a")] if sees_it else []), f.done("a")
    )

    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="end_turn")


def test_r_a_named_turn_that_ends_on_another_channel_says_how() -> None:
    made = stopping(turn_id=f.TURN)

    receive_frame(made, init_r({**PROMPT, **OTHER}, {**TURN, **OTHER}), f.updated(f.END, **OTHER))

    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="end_turn")


def test_the_end_of_another_turn_than_the_named_one_is_not_its_end() -> None:
    made = stopping(turn_id=f.TURN)

    receive_frame(made, f.init("V", runnerBusy=True), f.done("a", "T9"))

    assert made.result is Rejection.OTHER_TURN


# A and V: what says that it is over.


def stopped(**stop: Any) -> StopOperation:
    """It has sent its abort."""
    made = stopping(**stop)
    named = f.THREAD if stop else {}
    receive_frame(made, f.init("V", runnerBusy=True), f.chunk("a", **named))
    if not stop:
        assert late(made) == [ABORT]
    return made


@pytest.mark.parametrize(
    "next_one",
    [
        pytest.param(f.status(promptDequeued=True, remaining=0), id="A"),
        pytest.param(f.status(promptDequeued=True, messageId="P2", **f.CHANNEL), id="V"),
    ],
)
def test_the_next_prompt_is_dispatched(next_one: bytes) -> None:
    made = stopped()

    receive_frame(
        made, f.status(promptDequeued=True, messageId="P9", **{**f.CHANNEL, **OTHER}), next_one
    )

    assert made.result == STOPPED


def test_a_thread_is_stopped_while_others_go_on() -> None:
    """The session does not drain: what is told is a completion after the acknowledgement."""
    made = stopped(**THREAD)
    ours = f.doing("idle", **f.THREAD)

    assert receive_frame(made, ours, f.audit("user.abort"), f.audit("agent.turn_complete")) == []
    assert receive_frame(made, f.doing("idle", **f.CHANNEL), ours, f.audit("user.prompt")) == []
    assert made.result is None
    history = f.frame("audit_log", entry={"eventType": "agent.turn_complete", "createdAt": 5})
    receive_frame(made, history, f.audit("agent.turn_complete"))
    assert made.result == STOPPED


def test_a_thread_where_nothing_ran_is_acknowledged_without_a_completion() -> None:
    made = stopped(**THREAD)
    ours = f.doing("idle", **f.THREAD)

    receive_frame(made, ours, f.audit("user.abort"), ours, ours, IDLE)

    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="idle")


def test_a_turn_that_ends_before_the_abort_arrives_says_how() -> None:
    made = stopped()

    receive_frame(made, f.begin("T2"), f.done("a"))

    assert made.result == StopResult(stopped=False, turn_id=f.TURN, reason="end_turn")
