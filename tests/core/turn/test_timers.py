"""How long a stream waits, and for what: alone, and as a turn keeps its times."""

import math
from typing import Any

import pytest
from msgspec import Raw

from support import v2_frames as f
from support.hesitant import Hesitant
from support.turns import (
    BOTH,
    NOTHING,
    QUESTION,
    QUEUED,
    RUNNING,
    TOOL,
    opened,
    sent_types,
    verdict,
    wait,
)
from turnwire.core.agent import NEVER, AbortScope
from turnwire.core.events import Phase, Question, ToolUpdate
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.client_state import ClientState
from turnwire.core.turn.inputs import (
    Blocked,
    ClientLeft,
    Drain,
    Opened,
    Progressed,
    Tick,
    Unblocked,
)
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.open_work import OpenWork
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.timers import Deadlines
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import UIMessageStream
from turnwire.dialects import DIALECTS


class Protocol(Hesitant):
    """A wire whose answers are set by the test."""

    def __init__(self) -> None:
        super().__init__()
        self.scope = AbortScope.OURS

    @property
    def abort_scope(self) -> AbortScope:
        return self.scope


class Waiting:
    """The timers of a stream, and all that they look at."""

    def __init__(self, **limits: Any) -> None:
        self.protocol, self.open_work = Protocol(), OpenWork()
        limits_of = Limits(**limits)
        self.client = ClientState(limits_of)
        self.timers = Deadlines(limits_of, self.protocol, self.open_work, self.client)


def test_nothing_is_due_before_the_connection_is_open() -> None:
    timers = Waiting(expires_at=math.inf).timers

    assert timers.next(headers_due=False) == NEVER
    assert timers.next(headers_due=True) == NEVER


@pytest.mark.parametrize(
    ("limits", "due_at"),
    [
        ({"hold_s": 1, "idle_s": 9, "turn_s": 9}, 101),
        ({"hold_s": 9, "idle_s": 1, "turn_s": 9}, 109),
        ({"hold_s": 9, "idle_s": 9, "turn_s": 1}, 109),
    ],
)
def test_until_the_headers_may_go_out_neither_silence_nor_length_counts(
    limits: dict[str, float], due_at: float
) -> None:
    waiting = Waiting(**limits)
    waiting.timers.opened(100)

    assert waiting.timers.next(headers_due=False) == due_at


@pytest.mark.parametrize(
    ("limits", "due_at"),
    [
        ({"idle_s": 1}, 101),
        ({"turn_s": 2}, 102),
        ({"keepalive_s": 3}, 103),
        ({"expires_at": 104}, 104),
        ({}, 115),
    ],
)
def test_the_first_timer_counts(limits: dict[str, float], due_at: float) -> None:
    waiting = Waiting(**limits)
    waiting.protocol.accepted = True
    waiting.timers.opened(100)

    assert waiting.timers.next(headers_due=True) == due_at


def test_the_dialect_and_the_client_may_be_due_before_all_others() -> None:
    waiting = Waiting()
    waiting.protocol.accepted = True
    waiting.timers.opened(100)
    waiting.protocol.deadline = 101

    assert waiting.timers.next(headers_due=True) == 101

    waiting.protocol.deadline = NEVER
    waiting.client.mark_blocked(90)
    assert waiting.timers.next(headers_due=True) == 110


@pytest.mark.parametrize(
    ("is_queued", "event", "silence_s"),
    [
        (False, None, 120),
        (False, ToolUpdate(call_id="c", tool_name="t", phase=Phase.RUNNING), 600),
        (False, Question("q", Raw(b"{}")), 330),
        (True, None, 700),
        (True, Question("q", Raw(b"{}")), 700),
    ],
)
def test_silence_may_last_as_long_as_the_most_patient_reason_for_it(
    *, is_queued: bool, event: ToolUpdate | Question | None, silence_s: float
) -> None:
    waiting = Waiting(queue_wait_s=700)
    waiting.protocol.accepted, waiting.protocol.queued = True, is_queued
    waiting.timers.opened(100)
    if event is not None:
        waiting.open_work.take(event)

    assert waiting.timers.silence_at == 100 + silence_s
    waiting.client.mark_blocked(200)
    assert waiting.timers.silence_at == NEVER


def test_a_pause_is_no_silence_and_no_reason_for_a_keepalive() -> None:
    waiting = Waiting()
    waiting.protocol.accepted = True
    waiting.timers.opened(100)

    waiting.timers.reading_resumed(110, 150)
    assert waiting.timers.silence_at == 260
    waiting.timers.last_frame_at = 160
    waiting.timers.reading_resumed(155, 170)

    assert (waiting.timers.silence_at, waiting.timers.keepalive_at) == (290, 185)


def test_a_token_does_not_end_a_stream_whose_abort_would_stop_another_turn() -> None:
    waiting = Waiting(expires_at=300)
    assert waiting.timers.expires_at == 300

    waiting.protocol.scope = AbortScope.SHARED
    assert waiting.timers.expires_at == NEVER

    waiting.protocol.scope = AbortScope.NONE
    waiting.client.mark_gone(1)
    assert waiting.timers.expires_at == NEVER


def test_a_drain_ends_at_once_what_needs_no_stream() -> None:
    waiting = Waiting()
    waiting.client.mark_absent()
    waiting.protocol.accepted = True
    waiting.timers.drain(100)
    waiting.timers.drain(120)

    assert (waiting.timers.drain_at, waiting.timers.ends_on_drain) == (130, False)
    waiting.timers.opened(101)
    assert waiting.timers.ends_on_drain
    waiting.protocol.accepted = False
    assert not waiting.timers.ends_on_drain


@pytest.mark.parametrize(
    ("frames", "limit"),
    [
        pytest.param((), 120, id="asked"),
        pytest.param(RUNNING, 120, id="running"),
        pytest.param(TOOL, 600, id="a tool runs"),
        pytest.param((*TOOL, f.tool("completed")), 120, id="the tool is done"),
        pytest.param(QUESTION, 330, id="a question is open"),
        pytest.param((*QUESTION, f.frame("question.expired", questionId="q1")), 120, id="closed"),
        pytest.param(BOTH, 600, id="a tool runs and a question is open"),
        pytest.param(QUEUED, 600, id="the prompt waits in the queue"),
        pytest.param((*QUEUED, f.finalize("turn-0")), 120, id="the queue is empty"),
    ],
)
def test_how_long_silence_may_last(frames: tuple[bytes, ...], limit: float) -> None:
    turn = opened(*frames)
    heard_at = 1 if frames else 0

    acts = wait(turn, 5_000)

    at, last = acts[-1]
    assert at == heard_at + limit
    assert (turn.outcome, verdict(last)) == (Outcome.SILENT, "Agent stopped responding")
    assert sent_types(last) == ([] if frames == QUEUED else ["abort"])


def test_our_place_in_the_queue_moving_is_life() -> None:
    turn = opened(*QUEUED, f.begin("turn-9", "p9"))

    turn.frames([f.finalize("turn-0")], 500)
    turn.handle(Tick(), 601)
    assert turn.outcome is None
    turn.frames([f.finalize("turn-9")], 1_099)
    turn.handle(Tick(), 1_218)

    assert turn.outcome is None


@pytest.mark.parametrize("frames", [RUNNING, TOOL, QUEUED])
def test_no_turn_is_longer_than_the_longest(frames: tuple[bytes, ...]) -> None:
    turn = opened(*frames, turn_s=100)

    _, last = wait(turn, 5_000)[-1]

    assert turn.outcome is Outcome.TOO_LONG
    assert verdict(last) == "Turn took too long"
    assert sent_types(last) == ([] if frames == QUEUED else ["abort"])


def test_the_longest_time_counts_from_the_begin_of_our_turn() -> None:
    turn = opened(*QUEUED, turn_s=100)

    turn.frames([f.finalize("turn-0"), f.begin()], 90)
    turn.handle(Tick(), 189)
    assert turn.outcome is None
    turn.handle(Tick(), 190)

    assert turn.outcome is Outcome.TOO_LONG


def test_silence_is_filled_with_keepalives_and_then_ended() -> None:
    turn = opened(*RUNNING)

    acts = wait(turn, 500)

    assert [at for at, _ in acts] == [16, 31, 46, 61, 76, 91, 106, 121]
    assert {act.to_client for _, act in acts[:-1]} == {b": keepalive\n\n"}
    assert verdict(acts[-1][1]) == "Agent stopped responding"


def test_a_write_pushes_the_keepalive_back() -> None:
    turn = opened(*RUNNING)

    turn.frames([f.part("b")], 10)

    assert [(at, act.to_client) for at, act in wait(turn, 30)] == [
        (16, b""),
        (25, b": keepalive\n\n"),
    ]


def test_a_deadline_that_comes_too_early_does_nothing() -> None:
    turn = opened(*RUNNING)

    assert turn.handle(Tick(), 2) == NOTHING
    assert turn.deadline == 16


def test_drain_leaves_a_turn_its_time_and_is_counted_once() -> None:
    turn = opened(*RUNNING)

    turn.handle(Drain(), 3)
    turn.handle(Drain(), 20)
    turn.frames([f.part("b"), f.finalize()], 32)

    assert turn.outcome is Outcome.COMPLETED


def test_the_queue_limit_counts_from_the_hang_up_at_most() -> None:
    turn = opened(*QUEUED)
    turn.handle(ClientLeft(), 2)

    turn.frames([f.frame("status")], 599)
    acts = wait(turn, 5_000)

    assert [(at, act) for at, act in acts if act != NOTHING] == []
    assert acts[-1][0] == 602


@pytest.mark.parametrize(
    ("frames", "limit"), [(RUNNING, 120), (TOOL, 600), (QUESTION, 330), (QUEUED, 600)]
)
def test_silence_stands_still_while_nothing_is_read(
    frames: tuple[bytes, ...], limit: float
) -> None:
    turn = opened(*frames)

    turn.handle(Blocked(), 11)
    for now in range(12, 1_000, 10):
        assert turn.handle(Progressed(), now) == NOTHING
        assert turn.handle(Tick(), now) == NOTHING
    turn.handle(Blocked(), 1_001)  # again: the pause goes on
    turn.handle(Unblocked(), 1_011)
    at, last = wait(turn, 5_000)[-1]

    assert at == 1_011 - 10 + limit
    assert verdict(last) == "Agent stopped responding"


def test_frames_of_one_read_during_the_pause_count_as_signs_of_life() -> None:
    turn = opened(*RUNNING)

    turn.handle(Blocked(), 10)
    assert turn.frames([f.part("b")], 12).to_client
    turn.handle(Unblocked(), 20)

    assert wait(turn, 500)[-1][0] == 20 + 120


def test_no_keepalive_is_written_to_a_client_that_does_not_read() -> None:
    turn = opened(*RUNNING, stall_s=300)
    turn.handle(Blocked(), 3)

    assert turn.handle(Tick(), 100) == NOTHING
    turn.handle(Unblocked(), 101)

    assert turn.deadline == 116


def test_a_pause_before_the_connection_stands_does_no_harm() -> None:
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(),
    )
    turn.handle(Blocked(), 1)
    turn.handle(Unblocked(), 2)

    assert turn.handle(Tick(), 2) == NOTHING
    turn.handle(Opened(), 3)

    assert wait(turn, 500)[-1][0] == 123
