"""The mapping table of `acp`: messages of an agent fed to a real `Turn`, and what came out."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from turnwire.core.requests import AgentSession, PromptRequest
from turnwire.core.turn.inputs import AgentLeft, Opened, Tick
from turnwire.core.turn.limits import Limits
from turnwire.core.turn.turn import Turn
from turnwire.core.ui_stream.output import StreamOptions, UIMessageStream
from turnwire.dialects.acp import Acp
from turnwire.dialects.acp.opening import NOT_FOUND
from turnwire.dialects.acp.turn import AGAIN_S, PROMPT
from turnwire_lab.docs.mapping import shown

Message = dict[str, Any]


def _response(number: int, **result: Any) -> Message:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _failure(number: int | None, text: str, code: int = -32603) -> Message:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}


def _update(kind: str, /, session: str = "S", **fields: Any) -> Message:
    params = {"sessionId": session, "update": {"sessionUpdate": kind, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _text(text: str, kind: str = "agent_message_chunk", **fields: Any) -> Message:
    return _update(kind, content={"type": "text", "text": text}, **fields)


def _block(**fields: Any) -> Message:
    return _update("agent_message_chunk", content=fields)


def _done(reason: str) -> Message:
    return _response(PROMPT, stopReason=reason)


_INITIALIZED: Final = _response(1, protocolVersion=1, agentCapabilities={"loadSession": True})
_OPENED: Final = [_INITIALIZED, _response(2, sessionId="S")]
_OTHER: Final = _text("Hi", messageId="2")
_CALL: Final = _update("tool_call", toolCallId="c1", title="Run ls", kind="execute")
_RUNNING: Final = _update(
    "tool_call_update", toolCallId="c1", status="in_progress", rawInput={"command": "ls"}
)
_OUTPUT: Final = [{"type": "content", "content": {"type": "text", "text": "a.txt"}}]
_OPTIONS: Final = [{"optionId": "1", "name": "Once", "kind": "allow_once"}]
_ASK: Final = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "session/request_permission",
    "params": {"sessionId": "S", "toolCall": {"toolCallId": "c1"}, "options": _OPTIONS},
}


_WITHDRAWN: Final = {"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}}


def _state(status: str, **fields: Any) -> Message:
    return _update("tool_call_update", toolCallId="c1", status=status, **fields)


_END: Final = _state("completed")
_Rows = Sequence[tuple[str, Sequence[Message], Message | None]]
_ROWS: Final[_Rows] = (
    ("the response to `session/new`", _OPENED[:1], _OPENED[1]),
    ("`agent_message_chunk` with text", _OPENED, _text("Hi")),
    (
        "… of another `messageId`",
        [*_OPENED, _text("Hi", messageId="1")],
        _text("Hi", messageId="2"),
    ),
    ("… with an image", _OPENED, _block(type="image", data="QUJD", mimeType="image/png")),
    ("… with a link to a page", _OPENED, _block(type="resource_link", uri="https://a.example")),
    ("… with anything else", _OPENED, _block(type="resource", resource={})),
    ("`agent_thought_chunk`", _OPENED, _text("Hm", "agent_thought_chunk")),
    ("`user_message_chunk`", _OPENED, _text("Hi", "user_message_chunk")),
    ("`tool_call`", _OPENED, _CALL),
    ("`tool_call_update` to `in_progress`", [*_OPENED, _CALL], _RUNNING),
    ("… with content", [*_OPENED, _CALL, _RUNNING], _state("in_progress", content=_OUTPUT)),
    ("… to `completed`", [*_OPENED, _CALL, _RUNNING], _state("completed", content=_OUTPUT)),
    ("… to `failed`", [*_OPENED, _CALL, _RUNNING], _state("failed", content=_OUTPUT)),
    ("… after the end of the call", [*_OPENED, _CALL, _END], _state("in_progress")),
    ("`plan`", _OPENED, _update("plan", entries=[])),
    ("`usage_update`, modes, commands", _OPENED, _update("usage_update", used=1)),
    ("`session/request_permission`", [*_OPENED, _CALL], _ASK),
    ("… that cannot be shown", _OPENED, {**_ASK, "params": {"sessionId": "S"}}),
    ("`$/cancel_request` for it", [*_OPENED, _ASK], _WITHDRAWN),
    ("any other request", _OPENED, {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file"}),
    ("an update of another session", _OPENED, _text("Hi", session="T")),
    ("the response to the prompt: `end_turn`", [*_OPENED, _text("Hi")], _done("end_turn")),
    ("… `max_tokens`, `max_turn_requests`, `refusal`", _OPENED, _done("max_tokens")),
    ("… `cancelled`", [*_OPENED, _CALL], _done("cancelled")),
    ("… an error", [*_OPENED, _text("Hi")], _failure(PROMPT, "no model")),
    ("an error about no request", _OPENED, _failure(None, "Parse error")),
    ("another version, or no session", [], _failure(1, "no key")),
    ("the end of the connection", [*_OPENED, _text("Hi")], None),
)
_OF_A_KNOWN_SESSION: Final[_Rows] = (
    ("what a session sends of its past", [_INITIALIZED], _text("Hi")),
    (
        "a session that is not found",
        [_INITIALIZED, _failure(2, "gone", NOT_FOUND)],
        _response(3, sessionId="T"),
    ),
    (
        "a session that does not open, where another one does",
        [_INITIALIZED, _failure(2, "Internal error"), _failure(3, "Internal error")],
        _response(4, sessionId="T"),
    ),
    (
        "… where none does",
        [_INITIALIZED, _failure(2, "overloaded"), _failure(3, "overloaded")],
        _failure(4, "overloaded"),
    ),
)


def rows() -> Iterator[tuple[str, str]]:
    """Messages of the agent, and the types of the chunks that they become."""
    for label, before, message in _ROWS:
        yield label, _worth(before, message)
    for label, before, message in _OF_A_KNOWN_SESSION:
        yield label, _worth(before, message, AgentSession(known="S"))


def _worth(
    before: Sequence[Message], message: Message | None, session: AgentSession | None = None
) -> str:
    request = PromptRequest(text="", prompt_id="P", agent_session=session or AgentSession())
    turn = Turn(Acp().prompt(request), Limits(), UIMessageStream(StreamOptions()))
    turn.handle(Opened(), 0)
    for each in before:
        turn.frames([json.dumps(each).encode()], 0)
        turn.handle(Tick(), AGAIN_S)  # a session that does not open is asked for again
    written = (
        turn.handle(AgentLeft(), 0)
        if message is None
        else turn.frames([json.dumps(message).encode()], 0)
    ).to_client
    lines = [line for line in written.decode().split("\n") if line.startswith("data: {")]
    kinds = [shown(json.loads(line.removeprefix("data: "))) for line in lines]
    return " → ".join(kinds) or "nothing"
