"""Events in shorthand stand for events that open, go on and close."""

from typing import Any

import pytest

from support import ag_ui_frames as f
from turnwire.dialects.ag_ui.content.shorthand import LANES_MAX, Lanes
from turnwire.dialects.ag_ui.frames import decode


def chunk(kind: str, **fields: Any) -> bytes:
    return f.event(f"{kind}_CHUNK", **fields)


def events_of(frame: bytes) -> Any:
    return decode(frame)


TEXT, CALL, THOUGHT = "TEXT_MESSAGE", "TOOL_CALL", "REASONING_MESSAGE"


def expanded(*frames: bytes) -> list[str]:
    """What the last of these events stands for, in words."""
    lanes = Lanes()
    last: Any = None
    for frame in frames:
        last = lanes.expand(events_of(frame))
    return ["nothing"] if last is None else [words(each) for each in last]


def words(frame: Any) -> str:
    named = (getattr(frame, name, None) for name in ("message_id", "tool_call_id", "delta"))
    return " ".join([type(frame).__name__, *(each for each in named if isinstance(each, str))])


M1 = chunk(TEXT, messageId="m1", delta="a")
C1 = chunk(CALL, toolCallId="c1", toolCallName="x", delta="{")
R1 = chunk(THOUGHT, messageId="r1", delta="hm")


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([M1], ["TextStart m1", "TextContent m1 a"]),
        ([M1, M1], ["TextContent m1 a"]),
        ([M1, chunk(TEXT, delta="b")], ["TextContent m1 b"]),
        ([M1, chunk(TEXT, messageId="m1")], []),
        (
            [M1, chunk(TEXT, messageId="m2", delta="b")],
            ["TextEnd m1", "TextStart m2", "TextContent m2 b"],
        ),
        ([M1, C1], ["TextEnd m1", "CallStart c1", "CallArgs c1 {"]),
        ([C1, chunk(CALL, delta="}")], ["CallArgs c1 }"]),
        ([C1, R1], ["CallEnd c1", "ReasoningStart r1", "ReasoningContent r1 hm"]),
        ([R1, chunk(THOUGHT, delta="!")], ["ReasoningContent r1 !"]),
        ([R1, M1], ["ReasoningEnd r1", "TextStart m1", "TextContent m1 a"]),
        ([chunk(TEXT, messageId="m1")], ["TextStart m1"]),
        ([chunk(TEXT, delta="whose?")], ["nothing"]),
        ([chunk(TEXT, messageId="", delta="whose?")], ["nothing"]),
        ([C1, chunk(TEXT, delta="whose?")], ["nothing"]),
        ([chunk(CALL, toolCallId="c1", delta="{")], ["nothing"]),
        ([M1, f.text("b", "m2")], ["TextEnd m1", "TextContent m2 b"]),
        ([C1, f.result("1")], ["CallEnd c1", "CallResult c1"]),
        ([C1, f.snapshot()], ["CallEnd c1", "MessagesSnapshot"]),
        ([C1, f.mark()], ["EncryptedValue"]),
        ([f.text("b", "m2")], ["TextContent m2 b"]),
    ],
)
def test_it_stands_for(told: list[bytes], expected: list[str]) -> None:
    assert expanded(*told) == expected


A = {"subagentRunId": "a"}
B = {"subagentRunId": "b"}
MA = chunk(TEXT, messageId="ma", delta="a", **A)
MB = chunk(TEXT, messageId="mb", delta="b", **B)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([MA, MB], ["TextStart mb", "TextContent mb b"]),
        ([MA, MB, chunk(TEXT, delta="+", **A)], ["TextContent ma +"]),
        ([MA, MB, chunk(TEXT, messageId="ma", delta="+")], ["TextContent ma +"]),
        ([MA, MB, chunk(TEXT, delta="+")], ["nothing"]),
        ([MA, chunk(TEXT, delta="+")], ["TextContent ma +"]),
        ([MA, M1, f.text("x", "m9", **A)], ["TextEnd ma", "TextContent m9 x"]),
        ([MA, M1, f.text("x", "m9")], ["TextEnd m1", "TextContent m9 x"]),
        ([MA, M1, f.event("SUBAGENT_FINISHED", **A)], ["TextEnd ma", "SubagentFinished"]),
        ([MA, M1, f.snapshot()], ["TextEnd ma", "TextEnd m1", "MessagesSnapshot"]),
    ],
)
def test_each_subagent_has_a_lane_of_its_own(told: list[bytes], expected: list[str]) -> None:
    assert expanded(*told) == expected


def test_the_lanes_are_bounded_in_number() -> None:
    many = [
        chunk(TEXT, messageId=f"m{number}", subagentRunId=f"a{number}")
        for number in range(LANES_MAX + 1)
    ]

    assert expanded(*many) == ["TextEnd m0", f"TextStart m{LANES_MAX}"]


def test_a_call_in_shorthand_is_noticed() -> None:
    lanes = Lanes()

    lanes.expand(events_of(M1))
    assert not lanes.holds_calls
    lanes.expand(events_of(C1))
    assert lanes.holds_calls
