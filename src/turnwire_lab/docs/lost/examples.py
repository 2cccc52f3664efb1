"""What an agent may send that clients get nothing of, or not as it is: frames of each wire.

`no_silent_loss` plays them. A wire that is not named has no such thing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

Frame = dict[str, Any] | str
"""A frame, or what is sent as it is."""

USER: Final = "U"
"""Who sent the prompt."""

END: Final = "(the end of the connection)"
"""In the place of a frame."""


class Loss(Struct, frozen=True):
    """One kind of loss: what it is, and the frames by wire; the last frame is the one."""

    what: str
    frames: Mapping[str, Sequence[Frame]]
    note: str = ""
    """What no frame shows."""
    has_begun: bool = True
    """Whether the agent began the turn before these frames."""


def _chunk(finish: str | None = None, /, **delta: Any) -> Frame:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _response(kind: str, /, **fields: Any) -> Frame:
    return {"type": f"response.{kind}", **fields}


def _item(kind: str, index: int = 1, /, **fields: Any) -> Frame:
    item = {"type": kind, "id": f"i{index}", **fields}
    return _response("output_item.done", output_index=index, item=item)


def _rpc(number: int, **result: Any) -> Frame:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _update(kind: str, /, **fields: Any) -> Frame:
    params = {"sessionId": "S", "update": {"sessionUpdate": kind, **fields}}
    return {"jsonrpc": "2.0", "method": "session/update", "params": params}


def _content(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


_WEB: Final = {"channelType": "web", "channelId": "default"}
_IDLE: Final = {"runnerConnected": True, "runnerBusy": False, "promptsQueued": 0}
OPENED: Final[Mapping[str, Sequence[Frame]]] = {
    "v2": [{"type": "message.create", "turnId": "T", "promptId": "P"}],
    "session-agent": [
        {"type": "init", "session": {"id": "S", "status": "running"}, "data": _IDLE},
        {
            "type": "message",
            "data": {"id": "P", "role": "user", "content": "x", "authorId": USER, **_WEB},
        },
        {
            "type": "message",
            "data": {"id": "T", "role": "assistant", "content": "", "parts": [], **_WEB},
        },
    ],
    "acp": [_rpc(1, protocolVersion=1, agentCapabilities={}), _rpc(2, sessionId="S")],
    "ag-ui": [{"type": "RUN_STARTED", "threadId": "T", "runId": "P"}],
    "ui-stream": [{"type": "start"}],
    "openai-chat": [_chunk(role="assistant", content="")],
    "openai-responses": [_response("created", response={})],
}
"""What begins a turn of each wire."""

TEXT: Final[Mapping[str, Frame]] = {
    "v2": {"type": "message.part.text-delta", "turnId": "T", "delta": "Hi"},
    "session-agent": {"type": "chunk", "content": "Hi", "messageId": "T", **_WEB},
    "acp": _update("agent_message_chunk", content=_content("Hi")),
    "ag-ui": {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "Hi"},
    "ui-stream": {"type": "text-delta", "id": "t1", "delta": "Hi"},
    "openai-chat": _chunk(content="Hi"),
    "openai-responses": _response("output_text.delta", output_index=0, content_index=0, delta="Hi"),
}

_ACP_PROMPT: Final = 10
"""The id of the request with our prompt."""
_ACP_INPUT_MAX: Final = 262_144
_ACP_CALL: Final[Sequence[Frame]] = [
    _update("tool_call", toolCallId="c1", title="Run ls", kind="execute", status="pending"),
    _update("tool_call_update", toolCallId="c1", status="in_progress", rawInput={"command": "ls"}),
]
_AG_UI_CALL: Final[Sequence[Frame]] = [
    {"type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "bash"},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{}"},
    {"type": "TOOL_CALL_END", "toolCallId": "c1"},
]
_CHUNK_CALL: Final[Frame] = {
    "type": "tool-input-available",
    "toolCallId": "c1",
    "toolName": "bash",
    "input": {},
}
_NO_PAGE: Final = "javascript:alert(1)"

LOSSES: Final[Sequence[Loss]] = (
    Loss(
        "the agent's state and activities",
        {
            "ag-ui": [{"type": "STATE_SNAPSHOT", "snapshot": {"a": 1}}],
        },
        "`TURNWIRE_STATE` may show those of `ag-ui`",
    ),
    Loss(
        "a snapshot, or a final text, that contradicts what was streamed",
        {
            "v2": [
                TEXT["v2"],
                {"type": "message.finalize", "turnId": "T", "reason": "end_turn", "finalText": "X"},
            ],
            "ag-ui": [
                TEXT["ag-ui"],
                {"type": "TEXT_MESSAGE_END", "messageId": "m1"},
                {
                    "type": "MESSAGES_SNAPSHOT",
                    "messages": [{"id": "m1", "role": "assistant", "content": "X"}],
                },
            ],
            "openai-responses": [
                TEXT["openai-responses"],
                _response("output_text.done", output_index=0, content_index=0, text="X"),
            ],
        },
    ),
    Loss(
        "encrypted or signed reasoning: an agent that keeps nothing goes on without it",
        {
            "ag-ui": [
                {
                    "type": "REASONING_ENCRYPTED_VALUE",
                    "subtype": "message",
                    "entityId": "x",
                    "encryptedValue": "x",
                }
            ],
            "openai-responses": [_item("reasoning", summary=[], encrypted_content="x")],
            "openai-chat": [
                _chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "x"}])
            ],
            "ui-stream": [
                {"type": "reasoning-end", "id": "r1", "providerMetadata": {"p": {"signature": "x"}}}
            ],
        },
    ),
    Loss(
        "redacted reasoning: the model's host sends it unreadable",
        {"openai-chat": [_chunk(content=[{"type": "redacted_thinking", "data": "x"}])]},
    ),
    Loss(
        "the result of a tool, where the wire does not carry it",
        {
            "openai-chat": [
                {"tool": "bash", "toolCallId": "c1", "status": "running", "label": "ls"},
                {"tool": "bash", "toolCallId": "c1", "status": "completed"},
            ],
        },
        "on `openai-chat` the card says that its output is not shown",
    ),
    Loss(
        "the progress of a tool that runs",
        {
            "openai-responses": [
                _response(
                    "image_generation_call.partial_image", output_index=1, partial_image_b64=""
                )
            ],
            "ag-ui": [{"type": "CUSTOM", "name": "tool_progress", "value": {"n": 1}}],
        },
        "preliminary outputs (`acp`, `ui-stream`, `v2`) are shown in the profiles `6` and `7`",
    ),
    Loss(
        "a failure that looks like a result: only what the wire marks is an error",
        {
            "acp": [
                *_ACP_CALL,
                _update(
                    "tool_call_update", toolCallId="c1", status="completed", rawOutput={"exit": 3}
                ),
            ],
            "ag-ui": [
                *_AG_UI_CALL,
                {"type": "TOOL_CALL_RESULT", "toolCallId": "c1", "messageId": "t1", "content": "E"},
                TEXT["ag-ui"],
            ],
            "openai-responses": [
                _item("function_call", call_id="c1", name="bash", arguments="{}"),
                _item("function_call_output", 2, call_id="c1", output="Error: no such file"),
            ],
        },
    ),
    Loss(
        "the text of an attempt that was tried again: it stays",
        {"ui-stream": [TEXT["ui-stream"], {"type": "reset-step"}]},
    ),
    Loss(
        "a prompt that the agent took and never ran",
        # On `acp` the prompt is sent once the session is open.
        {name: [*(OPENED[name] if name == "acp" else ()), END] for name in OPENED},
        "if the agent sends nothing at all, `TURNWIRE_IDLE_S` ends the turn",
        has_begun=False,
    ),
    Loss(
        "a question or an approval that cannot be shown",
        {
            "ag-ui": [
                {
                    "type": "RUN_FINISHED",
                    "threadId": "T",
                    "runId": "P",
                    "outcome": {"type": "interrupt", "interrupts": [{"reason": "confirmation"}]},
                }
            ],
            "acp": [
                *_ACP_CALL,
                {
                    "jsonrpc": "2.0",
                    "id": 5,
                    "method": "session/request_permission",
                    "params": {
                        "sessionId": "S",
                        "toolCall": {
                            "toolCallId": "c1",
                            "rawInput": {"command": "x" * _ACP_INPUT_MAX},
                        },
                        "options": [{"optionId": "1", "name": "Once", "kind": "allow_once"}],
                    },
                },
            ],
            "openai-responses": [
                _item("mcp_approval_request", name="rm", id=""),
                _response("completed", response={"status": "completed"}),
            ],
            "ui-stream": [
                _CHUNK_CALL,
                {"type": "tool-approval-request", "toolCallId": "c1"},
                {"type": "finish"},
            ],
            "v2": [{"type": "question", "turnId": "T", "text": "Go?"}],
        },
    ),
    Loss(
        "a stream that breaks off without an end of the turn",
        {name: [TEXT[name], END] for name in OPENED},
    ),
    Loss(
        "a limit that cut the answer short",
        {
            "openai-chat": [TEXT["openai-chat"], _chunk("length"), "[DONE]"],
            "openai-responses": [
                TEXT["openai-responses"],
                _response(
                    "incomplete",
                    response={"incomplete_details": {"reason": "max_output_tokens"}},
                ),
            ],
            "acp": [TEXT["acp"], _rpc(_ACP_PROMPT, stopReason="max_tokens")],
        },
        "the reason is in the message's metadata (`finishReason`)",
    ),
    Loss(
        "further choices, audio",
        {
            "openai-chat": [{"choices": [{"index": 1, "delta": {"content": "Hi"}}]}],
            "openai-responses": [_response("audio.delta", delta="QUJD")],
        },
    ),
    Loss(
        "what the agent reports about its session, and not about the turn",
        {
            "v2": [{"type": "title", "title": "X"}],
            "session-agent": [{"type": "title", "title": "X"}],
            "acp": [_update("session_info_update", title="X")],
        },
    ),
    Loss(
        "a frame of a type that is not known",
        {
            "v2": [{"type": "agentPlan"}],
            "session-agent": [{"type": "agentPlan"}],
            "acp": [_update("agent_mood", mood="good")],
            "ag-ui": [{"type": "MOOD"}],
            "ui-stream": [{"type": "mood"}],
            "openai-chat": [{"mood": "good"}],
            "openai-responses": [_response("mood")],
        },
    ),
    Loss(
        "a page or a file that is none of `http:`, `https:`, `data:`",
        {
            "v2": [
                {"type": "message.part.source", "turnId": "T", "sourceId": "s1", "url": _NO_PAGE}
            ],
            "acp": [
                _update(
                    "agent_message_chunk",
                    content={"type": "resource_link", "uri": _NO_PAGE, "name": "A page"},
                )
            ],
            "ui-stream": [{"type": "source-url", "sourceId": "s1", "url": _NO_PAGE}],
            "openai-chat": [
                _chunk(annotations=[{"type": "url_citation", "url_citation": {"url": _NO_PAGE}}]),
                _chunk("stop"),
                "[DONE]",
            ],
            "openai-responses": [
                _response(
                    "output_text.annotation.added",
                    output_index=0,
                    annotation={"type": "url_citation", "url": _NO_PAGE},
                )
            ],
        },
    ),
    Loss(
        "token counts, unless `TURNWIRE_USAGE` asks for them",
        {
            "acp": [
                TEXT["acp"],
                _rpc(
                    _ACP_PROMPT,
                    stopReason="end_turn",
                    usage={"totalTokens": 7, "inputTokens": 4, "outputTokens": 3},
                ),
            ],
            "openai-chat": [
                TEXT["openai-chat"],
                _chunk("stop"),
                {"choices": [], "usage": {"total_tokens": 7}},
                "[DONE]",
            ],
        },
        "of several in a turn, the last one is shown (`ag-ui`: their sum); the log line counts "
        "none of them, except `usage_update`",
    ),
    Loss(
        "words of a system prompt, and messages of others, that come from the agent",
        {
            "ag-ui": [
                {"type": "TEXT_MESSAGE_START", "messageId": "m2", "role": "system"},
                {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m2", "delta": "Be brief."},
            ],
            "acp": [_update("user_message_chunk", content=_content("Be brief."))],
            "v2": [{"type": "message.part.text-delta", "turnId": "U", "delta": "Be brief."}],
            "ui-stream": [{"type": "message-metadata", "messageMetadata": {"system": "Be brief."}}],
        },
    ),
)
