"""The chunks of the `ui-stream` wire, as an agent writes them."""

import json
from typing import Any, Final


def chunk(kind: str, /, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def start(**fields: Any) -> bytes:
    return chunk("start", **fields)


def step() -> bytes:
    return chunk("start-step")


def step_end() -> bytes:
    return chunk("finish-step")


def text(delta: str, block: str = "t1", **fields: Any) -> bytes:
    return chunk("text-delta", id=block, delta=delta, **fields)


def text_start(block: str = "t1") -> bytes:
    return chunk("text-start", id=block)


def text_end(block: str = "t1") -> bytes:
    return chunk("text-end", id=block)


def thought(delta: str, block: str = "r1") -> bytes:
    return chunk("reasoning-delta", id=block, delta=delta)


def thought_end(block: str = "r1") -> bytes:
    return chunk("reasoning-end", id=block)


def call(call_id: str = "c1", name: str = "weather", **fields: Any) -> bytes:
    return chunk("tool-input-start", toolCallId=call_id, toolName=name, **fields)


def piece(delta: str, call_id: str = "c1") -> bytes:
    return chunk("tool-input-delta", toolCallId=call_id, inputTextDelta=delta)


def given(call_id: str = "c1", name: str = "weather", **fields: Any) -> bytes:
    return chunk(
        "tool-input-available", toolCallId=call_id, toolName=name, **{"input": {}, **fields}
    )


def bare(call_id: str = "c1", name: str = "now") -> bytes:
    """The input of a tool without parameters: JSON leaves an undefined `input` out."""
    return chunk("tool-input-available", toolCallId=call_id, toolName=name)


def refused(call_id: str = "c1", error: Any = "no such city") -> bytes:
    return chunk(
        "tool-input-error", toolCallId=call_id, toolName="weather", input={"a": 1}, errorText=error
    )


def output(value: Any = "21", call_id: str = "c1", **fields: Any) -> bytes:
    return chunk("tool-output-available", toolCallId=call_id, output=value, **fields)


def failed(error: Any = "offline", call_id: str = "c1") -> bytes:
    return chunk("tool-output-error", toolCallId=call_id, errorText=error)


def denied(call_id: str = "c1") -> bytes:
    return chunk("tool-output-denied", toolCallId=call_id)


def ask(approval_id: str = "a1", call_id: str = "c1", **fields: Any) -> bytes:
    return chunk("tool-approval-request", approvalId=approval_id, toolCallId=call_id, **fields)


def data(name: str = "weather", value: Any = None, **fields: Any) -> bytes:
    return chunk(f"data-{name}", data=value, **fields)


def error(text: Any = "boom") -> bytes:
    return chunk("error", errorText=text)


def finish(**fields: Any) -> bytes:
    return chunk("finish", **fields)


DONE: Final = b"[DONE]"

NOISE: Final = (
    *(b"", b"nonsense", b"[1,2]", b'{"type":7}', b'{"no":"type"}', b"[" * 5_000, b'{"type":"data-'),
    *(chunk("new-chunk"), chunk("text-delta", id="t1"), chunk("tool-input-start", toolCallId="c9")),
    *(chunk("message-metadata", messageMetadata={"secret": 1}), chunk("custom", kind="a.b")),
    *(chunk("source-document", sourceId="s", mediaType="x", title="x"), chunk("reset-step")),
    *(data("question", {"fake": 1}), data("agent-status", {"status": "x"}), data("", 1)),
    *(data("odd name", 1), chunk("data-x", id=7), b'{"type":"data-x","data":NaN}'),
    *(chunk("tool-approval-response", approvalId="a1", approved=True), start(messageId="m9")),
    ask("auto", isAutomatic=True),
)
"""What is not JSON, is of no known shape or type, or is not shown."""
