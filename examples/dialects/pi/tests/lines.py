"""The lines that pi writes, as 0.87 does."""

import json
from collections.abc import Sequence
from typing import Any, Final

Json = dict[str, Any]
CANARY: Final = "canary-of-the-system-prompt"
USAGE: Final = {"input": 650, "output": 20, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 670}
SYSTEM: Final = {"role": "system", "content": CANARY, "sections": {"preamble": CANARY}}


class Lines:
    """Collects lines. `prompt_id` is the id of the commands that are answered."""

    def __init__(self, prompt_id: str = "p1") -> None:
        self.prompt_id = prompt_id
        self.written: list[bytes] = []

    def event(self, kind: str, **fields: Any) -> None:
        self.written.append(encode({"type": kind, **fields}))

    # Responses.

    def respond(self, command: str, **fields: Any) -> None:
        self.event("response", id=self.prompt_id, command=command, **{"success": True, **fields})

    def state(self, **fields: Any) -> None:
        self.respond("get_state", data=state(**fields))

    def opened(self) -> None:
        """The session file of the chat is opened."""
        self.state()
        self.respond("switch_session", data={"cancelled": False})
        self.state()

    def accepted(self) -> None:
        self.respond("prompt")

    # A run.

    def begin(self, text: str) -> None:
        """The agent starts with the message of a user."""
        self.event("agent_start")
        self.event("turn_start")
        for kind in ("message_start", "message_end"):
            self.event(kind, message=SYSTEM)
        self.user(text)

    def user(self, text: str) -> None:
        content = [{"type": "text", "text": text}]
        for kind in ("message_start", "message_end"):
            self.event(kind, message={"role": "user", "content": content})

    def start(self, content: Sequence[Json] = (), reason: str = "pending") -> None:
        message = {"role": "assistant", "content": content, "stopReason": reason}
        self.event("message_start", message={**message, "usage": USAGE})

    def update(self, kind: str, index: int = 0, **fields: Any) -> None:
        event = {"type": kind, "contentIndex": index, **fields}
        self.event("message_update", usage=USAGE, assistantMessageEvent=event)

    def end(
        self, *content: Json, reason: str = "stop", error: str | None = None, **fields: Any
    ) -> None:
        message = {"role": "assistant", "content": content, "usage": USAGE, "stopReason": reason}
        failure = {} if error is None else {"errorMessage": error}
        self.event("message_end", message={**message, **failure, **fields})

    def message(
        self,
        *texts: str,
        thinking: str = "",
        calls: Sequence[tuple[str, str, Json]] = (),
        reason: str | None = "stop",
        error: str | None = None,
    ) -> None:
        """A message of the assistant. Its blocks end late. `reason`: None, if it does not end."""
        content: list[Json] = []
        ends: list[tuple[str, int, Json]] = []
        self.start()
        if thinking:
            self.update("thinking_start")
            self.update("thinking_delta", delta=thinking)
            content.append({"type": "thinking", "thinking": thinking, "thinkingSignature": "s"})
            ends.append(("thinking_end", 0, {"content": thinking}))
        if texts:
            index, whole = len(content), "".join(texts)
            self.update("text_start", index)
            for text in texts:
                self.update("text_delta", index, delta=text)
            content.append({"type": "text", "text": whole})
            ends.append(("text_end", index, {"content": whole}))
        for call_id, tool, arguments in calls:
            index, half = len(content), json.dumps(arguments)
            self.update("toolcall_start", index, id=call_id, toolName=tool)
            for piece in ("", half[:9], half[9:]):
                self.update("toolcall_delta", index, delta=piece)
            content.append(call(call_id, tool, arguments))
            ends.append(("toolcall_end", index, {"toolCall": content[-1]}))
        for kind, index, fields in ends:
            self.update(kind, index, **fields)
        if reason is not None:
            self.end(*content, reason="toolUse" if calls else reason, error=error)

    # Tools.

    def run(self, call_id: str, tool: str, arguments: Json) -> None:
        self.event("tool_execution_start", toolCallId=call_id, toolName=tool, args=arguments)

    def outcome(self, call_id: str, tool: str, text: str, *, is_error: bool = False) -> None:
        self.event(
            "tool_execution_end",
            toolCallId=call_id,
            toolName=tool,
            result={"content": [{"type": "text", "text": text}], "details": {}},
            isError=is_error,
        )

    def result(self, call_id: str, tool: str, text: str, *, is_error: bool = False) -> None:
        """The message of a result, which tells it once more."""
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": tool,
            "content": [{"type": "text", "text": text}],
            "isError": is_error,
        }
        for kind in ("message_start", "message_end"):
            self.event(kind, message=message)

    # What extensions ask, and the end.

    def ui(self, method: str, request_id: str, **fields: Any) -> None:
        self.event("extension_ui_request", id=request_id, method=method, **fields)

    def attempt_ends(self, *, will_retry: bool = False) -> None:
        self.event("turn_end", message={}, toolResults=[])
        self.event("agent_end", messages=[SYSTEM], willRetry=will_retry)

    def settle(self) -> None:
        self.attempt_ends()
        self.event("agent_settled")


def encode(line: Json) -> bytes:
    """One line as pi writes it."""
    return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


def call(call_id: str, tool: str, arguments: Json) -> Json:
    return {"type": "toolCall", "id": call_id, "name": tool, "arguments": arguments}


def state(**fields: Any) -> Json:
    return {
        "isStreaming": False,
        "isCompacting": False,
        "sessionFile": "/home/pi/sessions/2026_0.jsonl",
        "sessionId": "s",
        "messageCount": 0,
        "pendingMessageCount": 0,
        **fields,
    }
