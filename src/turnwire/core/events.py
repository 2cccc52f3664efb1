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

from turnwire.core.refusal import Refusal


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


class TurnContinued(Struct, frozen=True):
    """Our turn goes on for a client that has what follows, up to `PerhapsKnown` or `CaughtUp`."""

    turn_id: str


class PerhapsKnown(Struct, frozen=True):
    """What follows, up to `CaughtUp`, the client has as far as its message says so."""


class CaughtUp(Struct, frozen=True):
    """What follows is news."""


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


class FilePart(Struct, frozen=True):
    """The agent made a file; `url` holds it or says where it is."""

    url: str
    mime: str


class SourceUrl(Struct, frozen=True):
    """The agent drew on a page."""

    source_id: str
    url: str
    title: str | None = None


class AgentStatus(Struct, frozen=True):
    """What the agent is doing, for a status line."""

    status: str
    detail: str | None = None


class Approval(Struct, frozen=True):
    """The tool call that a question is about: it waits for a yes or a no."""

    call_id: str
    tool_name: str
    args: Raw | None = None


class Question(Struct, frozen=True):
    """The agent asks its user. `payload` is a JSON object: all that the agent said about it."""

    question_id: str
    payload: Raw
    approval: Approval | None = None
    """Set where nothing but a yes or a no is asked for, about a call that the agent named."""
    shown: Raw | None = None
    """Set where an approval names no such call: JSON, all that its user is shown."""

    @property
    def is_approval(self) -> bool:
        """Whether an answer may let a tool run."""
        return self.approval is not None or self.shown is not None


class Replied(Struct, frozen=True):
    """Our client's answer to an open question is on its way; the agent has yet to say so."""

    question_id: str


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
    """It cannot be done: a status while the headers are held back, else an error."""

    why: Refusal = Refusal.SESSION


class Send(Struct, frozen=True):
    """Send this text frame to the agent."""

    frame: bytes


Event: TypeAlias = (
    TurnStarted
    | TurnContinued
    | PerhapsKnown
    | CaughtUp
    | TextDelta
    | ReasoningDelta
    | ToolUpdate
    | FilePart
    | SourceUrl
    | AgentStatus
    | Question
    | Replied
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
