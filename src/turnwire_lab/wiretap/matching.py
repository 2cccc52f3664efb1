"""Which frame a chunk came from, found from outside: by the contents of both.

The gateway does not send it, and should not have to. Chunks of a stream come in the order of the
frames, so each is looked for from the last frame that was found. What has no words of its own (a
block that opens, a step that ends) belongs to the next chunk that has.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

Link = tuple[int, int]
"""The number of a chunk, and of the frame it came from."""
Fields = Mapping[str, object]

LOOKED_AT: Final = 2000
"""Frames that a chunk may come from; older ones are forgotten."""

STRUCTURE: Final = {
    "text-start",
    "text-end",
    "reasoning-start",
    "reasoning-end",
    "start-step",
    "finish-step",
}
ENDINGS: Final = {"finish", "error", "abort"}
AG_UI_CALLS: Final = {
    "tool-input-start": {"TOOL_CALL_START", "TOOL_CALL_CHUNK"},
    "tool-input-delta": {"TOOL_CALL_ARGS", "TOOL_CALL_CHUNK"},
    "tool-input-available": {"TOOL_CALL_END", "TOOL_CALL_CHUNK", "TOOL_CALL_RESULT"},
    "tool-output-available": {"TOOL_CALL_RESULT"},
    "tool-output-error": {"TOOL_CALL_RESULT"},
}
ACP_TEXTS: Final = {
    "text-delta": "agent_message_chunk",
    "reasoning-delta": "agent_thought_chunk",
}
QUESTIONS: Final = {
    "open": "question",
    "resolved": "question.resolved",
    "expired": "question.expired",
}


class Matcher:
    """The frames and chunks of one stream."""

    def __init__(self) -> None:
        self._frames: deque[tuple[int, Fields]] = deque(maxlen=LOOKED_AT)
        self._held: list[int] = []
        self._last: int | None = None
        self._last_kind = ""

    def frame(self, number: int, frame: Fields) -> None:
        self._frames.append((number, frame))

    def chunk(self, number: int, chunk: Fields) -> list[Link]:
        """The links that this chunk makes known: its own, and those of the ones before it."""
        kind = str(chunk.get("type", ""))
        follows_start = kind == "start-step" and self._last_kind == "start"
        self._last_kind = kind
        if kind in STRUCTURE and not follows_start:
            self._held.append(number)
            return []
        found = self._last if follows_start or not kind else self._find(chunk)
        links = [] if found is None else [(each, found) for each in (*self._held, number)]
        self._held.clear()
        return links

    def _find(self, chunk: Fields) -> int | None:
        for place, (number, frame) in enumerate(self._frames):
            if could_become(frame, chunk):
                for _ in range(place):
                    self._frames.popleft()
                self._last = number
                return number
        if self._last is None and self._frames and self._frames[0][1].get("type") == "init":
            self._last = self._frames[0][0]  # a resume repeats what stands in there
        return self._last


def could_become(frame: Fields, chunk: Fields) -> bool:
    """Whether this chunk may come from this frame."""
    kind, became = str(frame.get("type")), str(chunk.get("type"))
    if kind.isupper():
        return _ag_ui_could_become(kind, frame, chunk)
    if "jsonrpc" in frame:
        return _acp_could_become(kind, frame, chunk)
    if kind == became:  # a UI message stream, that of the agent
        return all(frame.get(name) == chunk.get(name) for name in ("delta", "toolCallId"))
    match became:
        case "text-delta":
            text = frame.get("delta") if kind.endswith("text-delta") else frame.get("content")
            return kind in {"chunk", "message.part.text-delta"} and text == chunk.get("delta")
        case "reasoning-delta":
            return "reasoning" in kind and frame.get("delta") == chunk.get("delta")
        case "data-agent-status":
            return kind == "agentStatus" and _data(chunk).get("status") == frame.get("status")
        case "data-question":
            expected = QUESTIONS.get(str(_data(chunk).get("state")))
            return kind == expected and frame.get("questionId") == chunk.get("id")
        case "tool-approval-request":
            return kind == "question" and frame.get("callId") == chunk.get("toolCallId")
        case "start":
            return kind in {"message.create", "error"}
        case "file":
            return "file" in kind
        case "source-url" | "source-document":
            return "source" in kind
        case _:
            return _by_kind(kind, frame, chunk)


def _by_kind(kind: str, frame: Fields, chunk: Fields) -> bool:
    became = str(chunk.get("type"))
    if became in ENDINGS:
        return kind in {"message.finalize", "complete", "error"}
    if became.startswith("tool-"):
        ids = str(chunk.get("toolCallId", "")).partition("#")[0]
        return frame.get("callId") == ids and _as_far(str(frame.get("status")), became)
    return False


def _ag_ui_could_become(kind: str, frame: Fields, chunk: Fields) -> bool:
    became = str(chunk.get("type"))
    match became:
        case "text-delta":
            return kind.startswith("TEXT_MESSAGE") and frame.get("delta") == chunk.get("delta")
        case "reasoning-delta":
            thinks = kind.startswith(("REASONING", "THINKING"))
            return thinks and frame.get("delta") == chunk.get("delta")
        case "start":
            return kind in {"RUN_STARTED", "RUN_ERROR"}
        case "data-agent-status":
            return kind.startswith(("STEP", "SUBAGENT"))
        case "tool-approval-request" | "data-question":
            return kind in {"RUN_FINISHED", "CUSTOM"}
        case _ if became in ENDINGS:
            return kind in {"RUN_FINISHED", "RUN_ERROR"}
        case _ if became in AG_UI_CALLS:
            ids = str(chunk.get("toolCallId", "")).partition("#")[0]
            return kind in AG_UI_CALLS[became] and frame.get("toolCallId") == ids
        case _:
            return False


def _acp_could_become(kind: str, frame: Fields, chunk: Fields) -> bool:
    became = str(chunk.get("type"))
    result = frame.get("result")
    result = result if isinstance(result, dict) else {}
    match became:
        case "text-delta" | "reasoning-delta":
            content = frame.get("content")
            text = content.get("text") if isinstance(content, dict) else None
            return kind == ACP_TEXTS[became] and text == chunk.get("delta")
        case "start":  # a session is open, or none could be opened
            return kind == "error" or (kind == "result" and "protocolVersion" not in result)
        case "data-question":
            return kind == "session/request_permission"
        case "data-agent-status":
            return kind == "tool_call" and _data(chunk).get("status") == kind
        case "data-plan":
            return kind == "plan"
        case _ if became in ENDINGS:
            return kind == "error" or (kind == "result" and "stopReason" in result)
        case _ if became.startswith("tool-"):
            ids = str(chunk.get("toolCallId", "")).partition("#")[0]
            status = str(frame.get("status", "pending")).replace("failed", "error")
            return frame.get("toolCallId") == ids and _as_far(status, became)
        case _:
            return False


def _data(chunk: Fields) -> Fields:
    data = chunk.get("data")
    return data if isinstance(data, dict) else {}


def _as_far(status: str, became: str) -> bool:
    match became:
        case "tool-input-start":
            return True
        case "tool-input-available":
            return status != "pending"
        case "tool-output-available":
            return status == "completed"
        case _:
            return status == "error"
