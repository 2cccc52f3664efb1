"""The events of the `openai-chat` wire, as agents write them."""

import json
from typing import Any, Final

DONE: Final = b"[DONE]"


def event(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """A chunk with one choice."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return event(**head, choices=[choice], **more)


def started() -> bytes:
    return chunk({"role": "assistant", "content": ""})


def text(content: Any) -> bytes:
    return chunk({"content": content})


def thought(content: str, name: str = "reasoning_content") -> bytes:
    return chunk({name: content})


def refusal(content: str) -> bytes:
    return chunk({"refusal": content})


def call(*pieces: dict[str, Any]) -> bytes:
    return chunk({"tool_calls": [*pieces]})


def head(
    call_id: str | None = "c1", name: str | None = "weather", index: int | None = 0, args: str = ""
) -> dict[str, Any]:
    """The first piece of a call."""
    found: dict[str, Any] = {"type": "function", "function": {"name": name, "arguments": args}}
    return found | {
        key: value for key, value in (("index", index), ("id", call_id)) if value is not None
    }


def piece(args: str, index: int | None = 0, **more: Any) -> dict[str, Any]:
    """A later piece of a call."""
    found: dict[str, Any] = {"function": {"arguments": args}, **more}
    return found if index is None else {"index": index, **found}


def finished(reason: str = "stop", **more: Any) -> bytes:
    return chunk(finish=reason, **more)


def usage(**counts: int) -> bytes:
    return event(id="chatcmpl-1", object="chat.completion.chunk", choices=[], usage=counts)


def progress(status: str, call_id: str = "c1", **fields: Any) -> bytes:
    return event(tool="terminal", toolCallId=call_id, status=status, **fields)


def failed(message: str = "boom", **fields: Any) -> bytes:
    return event(error={"message": message, **fields})


NOISE: Final = (
    *(b"", b"nonsense", b"[1,2]", b"7", b'{"no":"choices"}', b"[" * 5_000, b'{"choices":7}'),
    *(event(choices=[]), event(choices=[{}]), event(choices=[{"delta": None}]), chunk()),
    *(event(choices=[{"delta": {"content": 7}}]), chunk({"content": None, "refusal": None})),
    *(
        event(choices=None, usage=None),
        event(error=None),
        event(toolCallId="c1"),
        b'{"choices":NaN}',
    ),
    *(chunk({"tool_calls": None}), chunk({"tool_calls": []}), call({}), call({"index": 7})),
    *(chunk({"annotations": 7}), chunk({"images": [7]}), chunk({"reasoning": 7}), text([7])),
    *(event(type="ping"), event(progress=0.5), chunk({"tool_calls": 7})),
)
"""Events that are not JSON, of no known shape, or that say nothing."""
