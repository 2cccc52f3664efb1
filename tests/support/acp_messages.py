"""The messages of the `acp` wire, as an agent writes them."""

import json
from typing import Any, Final

SESSION: Final = "session-1"
PROMPT: Final = 10
"""The id of the request with our prompt."""


def message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def response(number: Any, **result: Any) -> bytes:
    return message(id=number, result=result)


def failure(number: Any, text: str = "boom", code: int = -32603, **more: Any) -> bytes:
    return message(id=number, error={"code": code, "message": text, **more})


def initialized(
    *, version: Any = 1, load: bool = False, resume: bool = False, **prompt: bool
) -> bytes:
    abilities: dict[str, Any] = {"loadSession": load, "promptCapabilities": prompt}
    if resume:
        abilities["sessionCapabilities"] = {"resume": {}}
    return response(1, protocolVersion=version, agentCapabilities=abilities)


def made(session: str = SESSION, number: int = 2) -> bytes:
    return response(number, sessionId=session)


def done(reason: str = "end_turn", **fields: Any) -> bytes:
    return response(PROMPT, stopReason=reason, **fields)


def update(kind: str, /, session: str = SESSION, **fields: Any) -> bytes:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return message(method="session/update", params=params)


def content(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def text(delta: str, **fields: Any) -> bytes:
    return update("agent_message_chunk", content=content(delta), **fields)


def thought(delta: str, **fields: Any) -> bytes:
    return update("agent_thought_chunk", content=content(delta), **fields)


def prompted(words: str, **fields: Any) -> bytes:
    """A prompt, as the past of a session has it."""
    return update("user_message_chunk", content=content(words), **fields)


def block(**fields: Any) -> bytes:
    return update("agent_message_chunk", content=fields)


def call(call_id: str = "c1", **fields: Any) -> bytes:
    given = {"title": "Run ls", "kind": "execute", "status": "pending", **fields}
    return update("tool_call", toolCallId=call_id, **given)


def state(status: str | None = "in_progress", call_id: str = "c1", **fields: Any) -> bytes:
    named = {} if status is None else {"status": status}
    return update("tool_call_update", toolCallId=call_id, **named, **fields)


def shown(words: str) -> list[dict[str, Any]]:
    """The content of a call."""
    return [{"type": "content", "content": content(words)}]


OPTIONS: Final = [
    {"optionId": "once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "always", "name": "Always", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def permission(
    number: Any = 0,
    call_id: str = "c1",
    session: str = SESSION,
    options: Any = OPTIONS,
    **fields: Any,
) -> bytes:
    asked = {"toolCallId": call_id, "title": "Run ls", "rawInput": {"command": "ls"}, **fields}
    params = {"sessionId": session, "toolCall": asked, "options": options}
    return message(id=number, method="session/request_permission", params=params)


UNREADABLE: Final = message(
    id=8, method="session/request_permission", params={"sessionId": SESSION}
)
"""A permission about no call."""

OPENED: Final = (initialized(), made())

NOISE: Final = (
    *(b"", b"nonsense", b"[1,2]", b"[" * 5_000, b'{"method":7}', message(method="session/update")),
    *(
        message(method="new/notice"),
        message(id=7, method="fs/read_text_file", params={"path": "/"}),
    ),
    *(update("new_update"), update("usage_update", used=1, size=2), response(99, a=1)),
    *(text("theirs", session="session-9"), permission(session="session-9"), prompted("again")),
    *(update("plan_update"), block(type="hologram"), update("agent_message_chunk"), text("")),
)
"""What is no message, is of no known kind, is not shown, or of another session."""
