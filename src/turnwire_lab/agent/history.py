"""What was said in a session: the canonical history that `init` repeats.

An entry is one prompt or one turn. Parts are kept as they grow and written out only when somebody
asks, so that a turn of many thousand deltas does not copy its text for each of them.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from turnwire_lab.agent.frames import Json

Status = Literal["pending", "running", "completed", "error"]
Reason = Literal["end_turn", "error", "canceled"]


@dataclass(slots=True)
class Said:
    """Text or reasoning, in the pieces it was told in."""

    kind: Literal["text", "reasoning"]
    pieces: list[str] = field(default_factory=list)
    streaming: bool = True

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def written(self) -> Json:
        part: Json = {"type": self.kind, "text": self.text}
        return part | {"streaming": self.streaming} if self.kind == "text" else part


@dataclass(slots=True)
class Called:
    """One tool call and how far it got."""

    call_id: str
    tool_name: str
    status: Status = "pending"
    args: Json | None = None
    result: Any = None
    error: str | None = None

    def fields(self) -> Json:
        """As both the part and the frame spell it: what is not known yet is left out."""
        told: Json = {"callId": self.call_id, "toolName": self.tool_name, "status": self.status}
        if self.args is not None:
            told["args"] = self.args
        if self.status == "completed":
            told["result"] = self.result
        if self.error is not None:
            told["error"] = self.error
        return told

    def written(self) -> Json:
        return {"type": "tool-call", **self.fields()}


@dataclass(slots=True)
class Ended:
    """How a turn ended."""

    reason: Reason

    def written(self) -> Json:
        return {"type": "finish", "reason": self.reason}


@dataclass(slots=True)
class Failed:
    """Why a turn failed, in words."""

    error: str

    def written(self) -> Json:
        return {"type": "error", "message": self.error}


Part = Said | Called | Ended | Failed


@dataclass(slots=True)
class Entry:
    """One prompt or one turn of the session."""

    id: str
    role: Literal["user", "assistant"]
    origin: Json
    """Ids and channel the entry came with, repeated as they are."""
    parts: list[Part] = field(default_factory=list)

    def last_said(self, kind: Literal["text", "reasoning"]) -> Said | None:
        """The open block of that kind, if nothing else came after it."""
        last = self.parts[-1] if self.parts else None
        return last if isinstance(last, Said) and last.kind == kind and last.streaming else None

    def close(self) -> None:
        """End the open block, if there is one."""
        if self.parts and isinstance(last := self.parts[-1], Said):
            last.streaming = False

    @property
    def text(self) -> str:
        return "".join(p.text for p in self.parts if isinstance(p, Said) and p.kind == "text")

    def written(self) -> Json:
        parts = [part.written() for part in self.parts]
        return {"id": self.id, "role": self.role, **self.origin, "parts": parts}
