"""What prompts and turns are made of, as `init` repeats it.

Parts are kept as they grow and written out only on demand, so that a turn of many thousand
deltas does not copy its text for each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from turnwire_lab.agents.common.frames import Json

Status = Literal["pending", "running", "completed", "error"]
Reason = Literal["end_turn", "error", "canceled"]

UNANSWERED: Final = msgspec.UNSET
"""No answer yet: `None` is one."""


@dataclass(slots=True)
class TextBlock:
    """Text or reasoning, in the pieces of its deltas."""

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
    input_text: str = ""
    """The pieces of the input so far, joined."""

    def fields(self) -> Json:
        """As both the part and the frame spell it: what is not known yet is left out."""
        fields: Json = {"callId": self.call_id, "toolName": self.tool_name, "status": self.status}
        if self.args is not None:
            fields["args"] = self.args
        if self.status == "completed":
            fields["result"] = self.result
        if self.error is not None:
            fields["error"] = self.error
        return fields

    def written(self) -> Json:
        pieces = self.input_text if self.args is None else ""
        return {"type": "tool-call", **self.fields()} | ({"inputText": pieces} if pieces else {})


@dataclass(slots=True)
class Question:
    """One question and what became of it."""

    id: str
    turn_id: str
    text: str
    options: Sequence[str]
    expires_at: int
    """Milliseconds since 1970."""
    wait_s: float
    about: Called | None = None
    """The call that waits for approval; without one it is no approval."""
    answer: Any = UNANSWERED
    expired: bool = False

    @property
    def is_open(self) -> bool:
        return self.answer is UNANSWERED and not self.expired

    @property
    def approved(self) -> bool:
        """Only a plain yes is one, in whatever spelling a gateway forwards it."""
        match self.answer:
            case bool(answer) | {"approved": bool(answer)}:
                return answer
            case str(answer):
                return answer.strip().lower() in {"approve", "approved", "allow", "yes"}
            case _:
                return False

    def fields(self) -> Json:
        """As both the part and the frame spell it."""
        fields: Json = {"questionId": self.id, "turnId": self.turn_id, "text": self.text}
        if self.options:
            fields["options"] = list(self.options)
        fields["expiresAt"] = self.expires_at
        if (call := self.about) is not None:
            about = {"toolName": call.tool_name, "callId": call.call_id, "args": call.args}
            fields |= {"kind": "approval", **about}
        return fields

    def written(self) -> Json:
        part = {"type": "question", **self.fields()}
        if self.answer is not UNANSWERED:
            part["answer"] = self.answer
        if self.expired:
            part["expired"] = True
        return part


@dataclass(slots=True)
class File:
    """A file that came with a prompt, or that a turn hands out."""

    mime: str
    url: str | None
    """None once the history holds too many of them."""
    filename: str | None = None

    def fields(self) -> Json:
        fields = {"mime": self.mime, "url": self.url, "filename": self.filename}
        return {name: value for name, value in fields.items() if value is not None}

    def written(self) -> Json:
        return {"type": "file", **self.fields()}


@dataclass(slots=True)
class Source:
    """A page that a turn refers to."""

    id: str
    url: str
    title: str

    def fields(self) -> Json:
        return {"sourceId": self.id, "url": self.url, "title": self.title}

    def written(self) -> Json:
        return {"type": "source", **self.fields()}


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


@dataclass(slots=True)
class StepBegan:
    """The model was called again here. It has no position."""

    def written(self) -> Json:
        return {"type": "step"}


@dataclass(slots=True)
class Retracted:
    """An attempt was lost here: what it told from the position `since` on is taken back."""

    since: int

    def written(self) -> Json:
        return {"type": "retract", "since": self.since}


Part = TextBlock | Called | Question | File | Source | Ended | Failed | StepBegan | Retracted


def standing(parts: Sequence[Part]) -> list[Part]:
    """The parts that were not taken back, with the steps between them."""
    kept: list[Part] = []
    for part in parts:
        if isinstance(part, Retracted):
            positions = [n for n, each in enumerate(kept) if not isinstance(each, StepBegan)]
            del kept[positions[part.since] if part.since < len(positions) else len(kept) :]
        else:
            kept.append(part)
    return kept


def position(parts: Sequence[Part]) -> int:
    """How many parts stand: the position of the next one."""
    return sum(not isinstance(part, StepBegan) for part in standing(parts))
