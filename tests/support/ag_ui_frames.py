"""The events of the `ag-ui` wire, as an agent writes them."""

import json
from typing import Any, Final

from turnwire.core.requests import DEFAULT_CHANNEL
from turnwire.core.wire.thread_id import thread_id

RUN: Final = "run-1"
THREAD: Final = thread_id("s1", DEFAULT_CHANNEL.type, DEFAULT_CHANNEL.id)


def event(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def started(run: str = RUN) -> bytes:
    return event("RUN_STARTED", threadId=THREAD, runId=run)


def finished(run: str = RUN, **fields: Any) -> bytes:
    return event("RUN_FINISHED", threadId=THREAD, runId=run, **fields)


def interrupted(*interrupts: dict[str, Any], run: str = RUN) -> bytes:
    return finished(run, outcome={"type": "interrupt", "interrupts": [*interrupts]})


def failed(message: str = "boom", **fields: Any) -> bytes:
    return event("RUN_ERROR", message=message, **fields)


def text_start(message: str = "m1", **fields: Any) -> bytes:
    return event("TEXT_MESSAGE_START", messageId=message, **fields)


def text(delta: str, message: str = "m1", **fields: Any) -> bytes:
    return event("TEXT_MESSAGE_CONTENT", messageId=message, delta=delta, **fields)


def text_end(message: str = "m1") -> bytes:
    return event("TEXT_MESSAGE_END", messageId=message)


def text_chunk(**fields: Any) -> bytes:
    return event("TEXT_MESSAGE_CHUNK", **fields)


def thought(delta: str, message: str = "r1") -> bytes:
    return event("REASONING_MESSAGE_CONTENT", messageId=message, delta=delta)


def thought_end(message: str = "r1") -> bytes:
    return event("REASONING_MESSAGE_END", messageId=message)


def call(call_id: str = "c1", name: str = "weather") -> bytes:
    return event("TOOL_CALL_START", toolCallId=call_id, toolCallName=name)


def args(delta: str, call_id: str = "c1") -> bytes:
    return event("TOOL_CALL_ARGS", toolCallId=call_id, delta=delta)


def call_end(call_id: str = "c1") -> bytes:
    return event("TOOL_CALL_END", toolCallId=call_id)


def call_chunk(**fields: Any) -> bytes:
    return event("TOOL_CALL_CHUNK", **fields)


def result(content: Any, call_id: str = "c1", message: str = "t1") -> bytes:
    return event("TOOL_CALL_RESULT", messageId=message, toolCallId=call_id, content=content)


def whole_call(call_id: str = "c1", name: str = "weather", given: str = "{}") -> list[bytes]:
    return [call(call_id, name), args(given, call_id), call_end(call_id)]


def mark(outcome: str = "failed", message: str = "t1") -> bytes:
    """What says that a result is a failure."""
    value = json.dumps({"pydantic_ai": {"outcome": outcome}})
    return event(
        "REASONING_ENCRYPTED_VALUE", subtype="message", entityId=message, encryptedValue=value
    )


def custom(name: str, value: Any) -> bytes:
    return event("CUSTOM", name=name, value=value)


def raw(**content: Any) -> bytes:
    return event("RAW", event={"event": "on_chain_stream", **content})


def user(content: str = "hi", message: str = "u1") -> dict[str, Any]:
    return {"id": message, "role": "user", "content": content}


def assistant(content: str, message: str = "m1", **calls: str) -> dict[str, Any]:
    """`calls` are inputs by the id of the call."""
    said: dict[str, Any] = {"id": message, "role": "assistant", "content": content}
    made = [
        {"id": call_id, "type": "function", "function": {"name": "weather", "arguments": given}}
        for call_id, given in calls.items()
    ]
    return said | {"toolCalls": made} if made else said


def tool(content: Any, call_id: str = "c1", **fields: Any) -> dict[str, Any]:
    return {
        "id": f"of-{call_id}",
        "role": "tool",
        "toolCallId": call_id,
        "content": content,
        **fields,
    }


def snapshot(*messages: dict[str, Any]) -> bytes:
    return event("MESSAGES_SNAPSHOT", messages=[*messages])


NOISE: Final = (
    *(b"", b"nonsense", b"[1,2]", b'{"type":7}', b'{"no":"type"}', b"[" * 5_000),
    *(event("NEW_EVENT"), event("TEXT_MESSAGE_CONTENT", messageId="m1"), raw(), raw(data="x")),
    *(event("REASONING_START", messageId="r1"), custom("progress", 1), started("run-9")),
    *(event("TEXT_MESSAGE_CHUNK", delta="whose?"), event("TOOL_CALL_CHUNK", toolCallId="c9")),
    *(event("STATE_SNAPSHOT", snapshot={"secret": 1}), snapshot(), b'{"type":"RAW","event":NaN}'),
    *(event("STATE_DELTA", delta=[]), event("MESSAGES_SNAPSHOT", messages=7)),
    started(),
)
"""Events that are not JSON, of no known shape or type, not shown, or of another run."""
