"""The events of the `openai-responses` wire, as agents write them."""

import json
from typing import Any, Final

DONE: Final = b"[DONE]"


def event(kind: str, **fields: Any) -> bytes:
    return json.dumps({"type": kind, **fields}).encode()


def created(**fields: Any) -> bytes:
    return event("response.created", response={"id": "resp_1", "status": "in_progress", **fields})


def text(delta: str, index: int = 0, part: int = 0, **more: Any) -> bytes:
    return event(
        "response.output_text.delta", output_index=index, content_index=part, delta=delta, **more
    )


def text_done(whole: str, index: int = 0, part: int = 0) -> bytes:
    return event("response.output_text.done", output_index=index, content_index=part, text=whole)


def refusal(delta: str, index: int = 0) -> bytes:
    return event("response.refusal.delta", output_index=index, content_index=0, delta=delta)


def summary(delta: str, index: int = 0, part: int = 0) -> bytes:
    return event(
        "response.reasoning_summary_text.delta",
        output_index=index,
        summary_index=part,
        delta=delta,
    )


def thought(delta: str, index: int = 0, part: int = 0) -> bytes:
    return event(
        "response.reasoning_text.delta", output_index=index, content_index=part, delta=delta
    )


def added(item: dict[str, Any], index: int = 1) -> bytes:
    return event("response.output_item.added", output_index=index, item=item)


def item_done(item: dict[str, Any], index: int = 1) -> bytes:
    return event("response.output_item.done", output_index=index, item=item)


def message(*texts: str, **fields: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": each, "annotations": []} for each in texts]
    return {"id": "msg_1", "type": "message", "role": "assistant", "content": content, **fields}


def call(call_id: str = "c1", name: str = "weather", args: str = "", **more: Any) -> dict[str, Any]:
    fields = {"id": f"fc_{call_id}", "type": "function_call", "call_id": call_id, "name": name}
    return {**fields, "arguments": args, **more}


def output(value: Any, call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return {
        "id": "fco_1",
        "type": "function_call_output",
        "call_id": call_id,
        "output": value,
    } | more


def tool(kind: str, **fields: Any) -> dict[str, Any]:
    """An item of a tool that runs at the server."""
    return {"id": f"{kind}_1", "type": kind, "status": "completed", **fields}


def asks(request_id: str = "mcpr_1", name: str = "delete_file", **more: Any) -> dict[str, Any]:
    fields = {"id": request_id, "type": "mcp_approval_request", "name": name}
    return {**fields, "server_label": "files", "arguments": '{"path":"a.txt"}', **more}


def args(delta: str, index: int = 1) -> bytes:
    return event("response.function_call_arguments.delta", output_index=index, delta=delta)


def args_done(whole: str, index: int = 1) -> bytes:
    return event("response.function_call_arguments.done", output_index=index, arguments=whole)


def whole_call(call_id: str = "c1", index: int = 1, given: str = "{}") -> list[bytes]:
    return [
        added(call(call_id), index),
        args(given, index),
        args_done(given, index),
        item_done(call(call_id, args=given), index),
    ]


def completed(**fields: Any) -> bytes:
    return event("response.completed", response={"id": "resp_1", "status": "completed", **fields})


def incomplete(reason: str = "max_output_tokens") -> bytes:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}}
    return event("response.incomplete", response=response)


def failed(message: str = "boom", **fields: Any) -> bytes:
    error = {"message": message, **fields}
    return event("response.failed", response={"status": "failed", "error": error})


def error(message: str = "boom", **fields: Any) -> bytes:
    return event("error", message=message, **fields)


NOISE: Final = (
    *(b"", b"nonsense", b"[1,2]", b'{"type":7}', b'{"no":"type"}', b"[" * 5_000, DONE),
    *(event("response.brand_new"), event("response.output_text.delta"), event("keepalive")),
    *(event("response.content_part.added", part={}), event("response.output_item.added", item=7)),
    *(event("response.output_item.done", item={"type": "hologram"}), created()),
    *(item_done({"type": "function_call_output"}, 9), item_done({"type": "x_call"}, 9)),
    *(event("response.audio.delta", delta="QUJD"), event("response.in_progress", response=7)),
    event("response.output_text.annotation.added", annotation=7),
    event("response.function_call_arguments.delta", output_index=77, delta="x"),
    event("response.function_call_arguments.done", output_index=77, arguments="x"),
    b'{"type":"response.in_progress","response":NaN}',
)
"""Events that are not JSON, of no known shape or type, not shown, or of no known item."""
