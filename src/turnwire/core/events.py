"""What a frame meant: the neutral vocabulary between dialects and the core.

A dialect turns the frames of one connection into these; `core.translate` turns
these into chunks. An event has a field only if something reads it. JSON that
the gateway merely carries stays `msgspec.Raw`: never parsed unless a client's
parser would refuse it (`core.harmless`).
"""

import enum
from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Raw, Struct


class Phase(enum.Enum):
    """Where a tool call is. The values are those of the RFC's wire."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    ERROR = "error"


class Reason(enum.Enum):
    """How the agent says that a turn ended."""

    END_TURN = "end_turn"
    ERROR = "error"
    CANCELED = "canceled"


class TurnStarted(Struct, frozen=True):
    """Our turn began, or goes on under another id."""

    turn_id: str


class TextDelta(Struct, frozen=True):
    """Text of our turn. May end with half of a surrogate pair."""

    text: str


class ReasoningDelta(Struct, frozen=True):
    """Reasoning of our turn. May end with half of a surrogate pair."""

    text: str


class ToolUpdate(Struct, frozen=True, kw_only=True):
    """A tool call reached a phase. `None` is "the frame had none"; `Raw(b"null")` is a value."""

    call_id: str
    tool_name: str
    phase: Phase
    args: Raw | None = None
    result: Raw | None = None
    error: str | None = None


class AgentStatus(Struct, frozen=True):
    """What the agent is doing, for a status line."""

    status: str
    detail: str | None = None


class Question(Struct, frozen=True):
    """The agent asks its user. `payload` is a JSON object: all that the agent said about it."""

    question_id: str
    payload: Raw


class QuestionClosed(Struct, frozen=True):
    """A question is no longer open: `answer` is what was answered, None if it expired."""

    question_id: str
    expired: bool = False
    answer: Raw | None = None


class TurnFinished(Struct, frozen=True, kw_only=True):
    """Our turn is over, or will never begin (an agent may refuse a prompt)."""

    reason: Reason
    final_text: str | None = None
    error: str | None = None
    usage: Raw | None = None


class Alive(Struct, frozen=True):
    """Nothing to show, but a sign of life: our turn, our queue place or the session's lifecycle."""


class Queued(Struct, frozen=True):
    """Our prompt waits behind another turn."""


class Refused(Struct, frozen=True):
    """The session cannot take this prompt: 409 while the headers are held back, else an error."""


class Send(Struct, frozen=True):
    """Send this text frame to the agent."""

    frame: bytes


Event: TypeAlias = (
    TurnStarted
    | TextDelta
    | ReasoningDelta
    | ToolUpdate
    | AgentStatus
    | Question
    | QuestionClosed
    | TurnFinished
    | Alive
    | Queued
    | Refused
    | Send
)

Told: TypeAlias = str | Sequence[Event]
"""What one frame told.

A bare `str` is a `TextDelta` of our turn: the one event that comes by the
hundred thousand, so it travels without an envelope. `""` is a frame of our
turn that told nothing new (a delta told twice). An empty sequence is a frame
that was not for us.
"""
