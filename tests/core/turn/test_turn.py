"""How a stream ends, and when: the table of times, pressure and endings."""

from collections.abc import Callable

import pytest

from support import v2_frames as f
from support.client_model import Client
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
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    Drain,
    Held,
    Opened,
    Progressed,
    Tick,
    Unblocked,
    Unreachable,
)
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.outcome import Outcome
from turnwire.core.turn.output import Output
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS


def test_opening_asks_and_flushes_the_headers() -> None:
    turn = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(),
    )

    act = turn.handle(Opened(), 0)

    assert sent_types(act) == ["prompt"]
    assert act.to_client == b": keepalive\n\n"
    assert turn.handle(Opened(), 0) == NOTHING  # it asks once


@pytest.mark.parametrize(
    ("happens", "outcome", "says", "tells"),
    [
        (lambda t: t.handle(Unreachable(), 3), Outcome.UNREACHABLE, "Connection failed", []),
        (lambda t: t.handle(AgentLeft(), 3), Outcome.INTERRUPTED, "Stream interrupted", []),
        (lambda t: t.handle(ClientLeft(), 3), Outcome.CLIENT_GONE, None, ["abort"]),
        (lambda t: t.handle(Tick(), 121), Outcome.SILENT, "Agent stopped responding", ["abort"]),
        (lambda t: t.handle(Held(2**20 + 1), 3), Outcome.SLOW_CLIENT, "Client too slow", ["abort"]),
        (
            lambda t: t.handle(Progressed(2**20 + 1), 3),
            Outcome.SLOW_CLIENT,
            "Client too slow",
            ["abort"],
        ),
        (
            lambda t: (t.handle(Blocked(), 3), t.handle(Tick(), 23))[1],
            Outcome.SLOW_CLIENT,
            "Client too slow",
            ["abort"],
        ),
        (
            lambda t: (t.handle(Drain(), 3), t.handle(Tick(), 33))[1],
            Outcome.DRAINING,
            "Gateway restarting",
            [],
        ),
        (lambda t: t.frames([f.finalize()], 3), Outcome.COMPLETED, "", []),
        (lambda t: t.frames([f.frame("complete")], 3), Outcome.COMPLETED, "", []),
        (lambda t: t.frames([f.finalize(reason="canceled")], 3), Outcome.CANCELED, "", []),
        (lambda t: t.frames([f.frame("error", error="no")], 3), Outcome.FAILED, "no", []),
        (
            lambda t: t.frames([f.finalize(reason="error", error="x" * 3_000)], 3),
            Outcome.FAILED,
            "x" * 2_000,
            [],
        ),
    ],
)
def test_how_a_stream_ends(
    happens: Callable[[Turn], Output], outcome: Outcome, says: str | None, tells: list[str]
) -> None:
    turn = opened(*RUNNING)

    act = happens(turn)

    assert turn.outcome is outcome
    assert (verdict(act), sent_types(act)) == (says, tells)
    assert turn.deadline == float("inf")


@pytest.mark.parametrize(
    "happens",
    [
        lambda t: t.handle(Opened(), 9),
        lambda t: t.handle(Unreachable(), 9),
        lambda t: t.frames([*RUNNING, f.finalize()], 9),
        lambda t: t.handle(AgentLeft(), 9),
        lambda t: t.handle(ClientLeft(), 9),
        lambda t: t.handle(Blocked(), 9),
        lambda t: t.handle(Progressed(2**21), 9),
        lambda t: t.handle(Held(2**21), 9),
        lambda t: t.handle(Unblocked(), 9),
        lambda t: t.handle(Drain(), 9),
        lambda t: t.handle(Tick(), 9_999),
    ],
)
@pytest.mark.parametrize("before", [(), (*RUNNING, f.finalize())])
def test_nothing_comes_out_of_a_stream_that_is_over(
    before: tuple[bytes, ...], happens: Callable[[Turn], Output]
) -> None:
    turn = opened(*before)
    turn.handle(AgentLeft(), 2)
    outcome = turn.outcome

    assert happens(turn) == NOTHING
    assert turn.outcome is outcome
    assert turn.deadline == float("inf")


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


@pytest.mark.parametrize(
    ("frame", "is_life"),
    [
        (f.part("b"), True),
        (f.chunk("a"), True),  # a repeated delta is a sign of life too
        (f.reasoning("h"), True),
        (f.tool("pending"), True),
        (f.frame("agentStatus", status="thinking"), True),
        (f.frame("status"), True),
        (f.init(), True),
        (f.begin(), True),
        (f.frame("pong"), False),
        (f.frame("title", title="x"), False),
        (f.part("x", "turn-9"), False),
        (f.begin("turn-9", "p9"), False),
        (f.frame("error", error="x", turnId="turn-9"), False),
        (f.frame("new.thing"), False),
        (b"nonsense", False),
    ],
)
def test_what_counts_as_life(*, frame: bytes, is_life: bool) -> None:
    turn = opened(*RUNNING)

    turn.frames([frame], 100)
    turn.handle(Tick(), 121)

    assert (turn.outcome is None) == is_life


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


def test_the_end_of_the_stream_is_whole_in_one_write() -> None:
    turn, client = opened(*BOTH), Client()
    client.read(opened().frames(BOTH, 1).to_client)

    client.read(turn.handle(AgentLeft(), 2).to_client)

    client.close()
    assert turn.frames_received == len(BOTH)
    assert turn.turn_id == f.OURS


def test_frames_after_the_end_are_ignored() -> None:
    turn = opened()

    act = turn.frames([*RUNNING, f.finalize(), f.part("late"), f.begin()], 1)

    assert verdict(act) == ""
    assert b"late" not in act.to_client


def test_event_lines_can_be_left_out() -> None:
    conversation = DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT))
    turn = Turn(
        conversation,
        Limits(),
        UIMessageStream(StreamOptions(event_lines=False, usage=True, taken_id=f.OURS)),
    )
    turn.handle(Opened(), 0)

    written = turn.frames(
        [*RUNNING, f.part("b"), f.finalize(usage={"totalTokens": 3})], 1
    ).to_client

    assert b"event:" not in written
    assert b'"messageId":"turn-1:answer"' in written
    assert b'"messageMetadata":{"usage":{"totalTokens":' in written


def test_half_of_a_pair_takes_the_long_way_and_waits_for_the_other() -> None:
    turn = opened(f.begin(), f.part("a"))

    assert turn.frames([f.part("\ud83d")], 1) == NOTHING
    assert "\U0001f600".encode() in turn.frames([f.part("\ude00")], 2).to_client
