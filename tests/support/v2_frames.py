"""The frames of the `v2` wire, as an agent writes them."""

import json
from typing import Any, Final

OURS: Final = "turn-1"
PROMPT: Final = "p1"


def frame(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def create(turn: str = OURS, **fields: Any) -> bytes:
    return frame("message.create", turnId=turn, **fields)


def begin(turn: str = OURS, prompt: str = PROMPT) -> bytes:
    return create(turn, promptId=prompt, channelType="web", channelId="default")


def part(text: str, turn: str = OURS) -> bytes:
    return frame("message.part.text-delta", turnId=turn, delta=text)


def chunk(text: str, turn: str = OURS) -> bytes:
    return frame("chunk", messageId=turn, content=text)


def reasoning(text: str, turn: str = OURS) -> bytes:
    return frame("message.part.reasoning-delta", turnId=turn, delta=text)


def tool(
    status: str, call: str = "c1", name: str = "bash", *, turn: str = OURS, **fields: Any
) -> bytes:
    return frame(
        "message.part.tool-update",
        turnId=turn,
        callId=call,
        toolName=name,
        status=status,
        **fields,
    )


def tool_input(
    text: str, call: str = "c1", name: str = "bash", *, turn: str = OURS, **fields: Any
) -> bytes:
    about = {"turnId": turn, "callId": call, "toolName": name}
    return frame("message.part.tool-input-delta", **about, delta=text, **fields)


def data(value: Any = 1, turn: str = OURS, **fields: Any) -> bytes:
    return frame("message.part.data", turnId=turn, **{"dataName": "state", "value": value} | fields)


def step(turn: str = OURS) -> bytes:
    return frame("message.part.step", turnId=turn)


def retract(since: Any = 0, turn: str = OURS) -> bytes:
    return frame("message.part.retract", turnId=turn, since=since)


def file(url: str = "data:image/png;base64,QQ==", turn: str = OURS, **fields: Any) -> bytes:
    return frame("message.part.file", turnId=turn, url=url, mime="image/png", **fields)


def source(url: str = "https://a.example/", turn: str = OURS, **fields: Any) -> bytes:
    return frame("message.part.source", turnId=turn, sourceId="s1", url=url, **fields)


def finalize(turn: str = OURS, reason: str = "end_turn", **fields: Any) -> bytes:
    return frame("message.finalize", turnId=turn, reason=reason, **fields)


def init(**data: Any) -> bytes:
    return frame("init", session={"id": "s1", "status": "running", "messages": []}, data=data)


def question(question_id: str = "q1", **fields: Any) -> bytes:
    return frame("question", questionId=question_id, text="ok?", **fields)


NOISE: Final = (
    *(b"", b"nonsense", b"[1,2]", b'{"type":7}', b'{"no":"type"}', b"\xef\xbb\xbf{}"),
    *(frame("chunk"), frame("new.thing"), frame("message.create", turnId=""), b"[" * 5_000),
    *(frame("pong"), frame("status"), frame("title", title="x"), frame("user.joined")),
    frame("message.part.tool-update", turnId=OURS, callId="c1", toolName="x", status="exploded"),
)
"""Frames that are not JSON, of no known shape or type, or skipped."""
