"""How a stream ends, and when: the table of times, pressure and endings."""

from collections.abc import Callable

import pytest

from support import v2_frames as f
from support.scripted_protocol import Scripted
from support.turns import (
    BOTH,
    NOTHING,
    RUNNING,
    opened,
    sent_types,
    verdict,
)
from turnwire.core import events
from turnwire.core.agent import Decoded
from turnwire.core.events import Reason
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import (
    AgentLeft,
    Blocked,
    ClientLeft,
    Drain,
    Held,
    Opened,
    Progressed,
    Refused,
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
from turnwire.testing.client_model import Client

END_TURN, ERROR, _ = Reason


def test_no_frame_of_a_read_counts_after_the_one_that_ends_the_turn() -> None:
    ends = [Decoded([events.TurnFinished(reason=reason)]) for reason in (END_TURN, ERROR)]
    turn = Turn(Scripted(ends), Limits(), UIMessageStream())
    turn.handle(Opened(), 0)

    output = turn.frames([b"{}", b"{}"], 1)

    assert turn.outcome is Outcome.COMPLETED
    assert output.to_client.endswith(b'{"type":"finish"}\n\ndata: [DONE]\n\n')
    assert b'"error"' not in output.to_client


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
        (
            lambda t: t.handle(Refused(), 3),
            Outcome.AGENT_REFUSED,
            "The agent refused the request",
            [],
        ),
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
