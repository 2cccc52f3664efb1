"""Frames of the `v2` wire that may come at any time, and ways in which a turn ends."""

from typing import Any

from support import v2_frames as f

WORDS = ("a", "b ", "\n\n", "é", "\u2028", "\0", "\U0001f600", 'data: {"x"')


TOLD = {
    spell(word): (number, word) for number, spell in enumerate((f.part, f.chunk)) for word in WORDS
}


VALUE: dict[str, Any] = {
    "args": {"__proto__": "\u2028", "a": [1, None]},
    "result": "\ud83d",
    "error": "no\x1b",
}


NO_VALUE: dict[str, Any] = {}


RETRACTED = (f.retract(0), f.retract(1), f.retract(3))
"""Behind these, neither frame type repeats text of the other from before them."""


OTHER_FRAMES = (
    *f.NOISE,
    *(
        f.begin(),
        f.begin("turn-9", "p9"),
        f.create("turn-8", channelType="slack"),
        f.finalize("turn-9"),
    ),
    *(f.part("secret", "turn-9"), f.chunk("secret", "turn-8"), f.tool("running", turn="turn-9")),
    *(
        f.tool(status, call, **fields)
        for status in ("pending", "running", "completed", "error")
        for call in ("c1", "c2")
        for fields in (NO_VALUE, VALUE)
    ),
    *(f.reasoning("hm"), f.reasoning("\ud83d"), f.question(), f.question("q2", turnId=f.OURS)),
    *(
        f.file(),
        f.file("javascript:1"),
        f.file(turn="turn-9"),
        f.source(),
        f.source(title="\ud83d"),
    ),
    *(f.tool_input(text) for text in ('{"a":', "1}", "", "\ud83d")),
    *(f.tool_input("x", "c2"), f.tool_input("secret", turn="turn-9")),
    *(f.tool("running", result=result, preliminary=True) for result in (1, "\u2028")),
    *(f.tool(status, call="c1", argsDelta='{"a') for status in ("pending", "running", "error")),
    *(f.step(), f.step(), f.step("turn-9"), *RETRACTED, f.retract(turn="turn-9")),
    *(f.data(), f.data(dataId="d"), f.data(2, dataId="d"), f.data(dataId="d", transient=True)),
    *(f.data(dataName="question"), f.data(turn="turn-9")),
    *(f.frame(f"question.{how}", questionId="q1") for how in ("resolved", "expired")),
    *(f.frame("agentStatus", status="thinking"), f.init(runnerBusy=True), f.init()),
    *(f.frame("error", error="no", turnId="turn-9"), f.frame("complete", turnId="turn-9")),
)


ENDINGS = (
    *(f.finalize(reason=reason) for reason in ("end_turn", "error", "canceled", "?")),
    *(f.frame("complete"), f.frame("error", error="boom"), f.finalize(finalText="another")),
    *(f.finalize(finishReason=reason) for reason in ("stop", "length", "?", 7)),
    *(b"left", b"late", b"drain", b"gone", b"overflow"),
)


TEXTS = tuple(TOLD)
