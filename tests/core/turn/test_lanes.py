"""The short lane of text deltas writes the very bytes of the long one."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import v2_frames as f
from support.scripted_protocol import FrameResult, Scripted
from turnwire.core import events
from turnwire.core.agent import ALIVE, Decoded
from turnwire.core.requests import PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects import DIALECTS

PIECES = [
    *("a", "plain ", '"\\/', "\n\r\t", "\0\x1f\x7f", "é", "\x85", "\u2028\u2029", "\ufffd"),
    *("\U0001f600", "\ud83d", "\ude00", "</script>", ""),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=4).map("".join)


def stream(decoded: Sequence[FrameResult], reads: Sequence[int], *, event_lines: bool) -> bytes:
    """All that a client is sent, when the frames come in reads of these sizes."""
    turn = Turn(
        Scripted(decoded), Limits(), UIMessageStream(StreamOptions(event_lines=event_lines))
    )
    written = [turn.handle(Opened(), 0).to_client]
    left = len(decoded)
    for size in [*reads, len(decoded)]:
        count = min(size, left)
        written.append(turn.frames([b""] * count, 1).to_client)
        left -= count
    return b"".join(written) + turn.handle(AgentLeft(), 2).to_client


OTHER_EVENTS: list[FrameResult] = [
    None,
    ALIVE,
    Decoded([events.ReasoningDelta("hm\ud83d")]),
    Decoded([events.ToolUpdate(call_id="c", tool_name="t", phase=events.Phase.COMPLETED)]),
    Decoded([events.TurnStarted("again")]),
    Decoded([events.TextSwitch("a", "b")]),
    Decoded([events.TextSwitch("b", "a"), events.TextDelta("x")]),
    Decoded([events.TextBreak()]),
    Decoded([events.TextDelta("x"), events.Queued(), events.TextDelta("\ud83d")]),
]


@settings(max_examples=80, deadline=None, database=None)
@given(
    decoded=st.lists(st.one_of(TEXTS, TEXTS, TEXTS, st.sampled_from(OTHER_EVENTS)), max_size=12),
    reads=st.lists(st.integers(0, 5), max_size=8),
    event_lines=st.booleans(),
)
def test_both_lanes_write_the_same_bytes(
    decoded: list[FrameResult], reads: list[int], *, event_lines: bool
) -> None:
    long = [Decoded([events.TextDelta(one)]) if isinstance(one, str) else one for one in decoded]

    short_way = stream(decoded, reads, event_lines=event_lines)

    assert short_way == stream(long, [1] * len(long), event_lines=event_lines)


def test_the_short_lane_is_taken() -> None:
    output = UIMessageStream()
    turn = Turn(Scripted(["a", "b"]), Limits(), output)
    turn.handle(Opened(), 0)
    turn.frames([b""], 0)
    lane = output._lane

    turn.frames([b""], 0)

    assert lane is not None
    assert output._lane is lane  # nothing was reckoned anew


@pytest.mark.parametrize("cut", range(1, 9))
def test_frames_split_into_other_reads_give_the_same_bytes(cut: int) -> None:
    frames = [
        f.begin(),
        *map(f.part, ["smile \ud83d", "\ude00", "é\u2028", "half \ud83d", " a"]),
        f.tool("completed"),
        f.chunk("smile \U0001f600é\u2028half \ud83d a!"),
        f.finalize(),
    ]
    whole = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(),
    )
    parted = Turn(
        DIALECTS["v2"].prompt(PromptRequest(text="hi", prompt_id=f.PROMPT)),
        Limits(),
        UIMessageStream(),
    )

    at_once = whole.handle(Opened(), 0).to_client + whole.frames(frames, 1).to_client
    in_two = parted.handle(Opened(), 0).to_client + parted.frames(frames[:cut], 1).to_client
    in_two += parted.frames(frames[cut:], 1).to_client

    assert in_two == at_once
    assert at_once.endswith(b"data: [DONE]\n\n")
