"""Events: the meaning of a frame, in the same words for every dialect.

A dialect turns the frames of one connection into events; `core.ui_stream.translator` turns
events into chunks. An event has a field only if some code reads it. JSON that
the gateway only passes on stays `msgspec.Raw`: it is parsed only if a client's
parser would refuse it (`core.safe_json`).
"""

import enum
from collections.abc import Iterable
from typing import TypeAlias, assert_never

from msgspec import Raw, Struct


class Phase(enum.Enum):
    """The state of a tool call. Wires that name it use these words."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    ERROR = "error"

    @property
    def is_over(self) -> bool:
        """Whether the call has its outcome."""
        match self:
            case Phase.PENDING | Phase.RUNNING:
                return False
            case Phase.COMPLETED | Phase.ERROR:
                return True
            case _:
                assert_never(self)


class Reason(enum.Enum):
    """How a turn ended, by the agent's own report."""

    END_TURN = "end_turn"
    ERROR = "error"
    CANCELED = "canceled"


class TurnStarted(Struct, frozen=True):
    """Our turn began, or continues under another id."""

    turn_id: str


class ReplayStarted(Struct, frozen=True):
    """Our turn continues for a client that already has its beginning.

    The client has all events that follow, up to `ReplayUncertain` or `ReplayFinished`.
    """

    turn_id: str


class ReplayUncertain(Struct, frozen=True):
    """The events up to `ReplayFinished`: the client has only those that its message contains."""


class ReplayFinished(Struct, frozen=True):
    """All following events are new to the client."""


class TextDelta(Struct, frozen=True):
    """Text of our turn. May end with half of a surrogate pair."""

    text: str


class ReasoningDelta(Struct, frozen=True):
    """Reasoning of our turn. May end with half of a surrogate pair."""

    text: str


class TextBreak(Struct, frozen=True):
    """The open block of text or of reasoning ends: a delta that follows begins another block.

    A delta always belongs to the open block: the one that the last delta or `TextSwitch` chose.
    """


class TextSwitch(Struct, frozen=True):
    """The deltas that follow belong to another block, and the open one stays open.

    So an agent may tell several texts at once. The open block is left under the key `left`. The
    deltas continue the block that was left under the key `entered`; if there is none, they begin
    a block. A `TextBreak` ends the open block alone; all blocks end together at anything else that
    ends one: a tool call, a file, a question, the end of the turn, or a delta of the other kind
    (text, reasoning).
    """

    left: str
    """The key of the open block. If none is open, as after a `TextBreak`, it names nothing: any
    word will do."""
    entered: str


class StepStarted(Struct, frozen=True):
    """The agent calls its model again: the parts that follow belong to another step.

    It ends the open block, as a `TextBreak` does. A step without parts is none.
    """


class PartsRetracted(Struct, frozen=True):
    """The parts of the turn from the position `since` on are taken back, with their calls.

    The attempt that wrote them was lost. Positions count the parts that stand, from 0: a block of
    text or of reasoning, a call, a file, a source, a question, data that is not transient.
    """

    since: int


class ToolInputDelta(Struct, frozen=True):
    """A piece of the input of a tool call, as text of JSON. May end with half of a surrogate pair.

    It begins the call if the call is unknown. The input is whole when a `ToolUpdate` has `args`,
    or when the call runs or ends; pieces that come later are dropped.
    """

    call_id: str
    tool_name: str
    text: str


class ToolUpdate(Struct, frozen=True, kw_only=True):
    """A tool call reached a phase.

    `None` means that the frame had no such field; `Raw(b"null")` is a value.
    """

    call_id: str
    tool_name: str
    phase: Phase
    args: Raw | None = None
    result: Raw | None = None
    error: str | None = None
    preliminary: bool = False
    """Whether the `result` of a call that runs is one that the next result replaces.

    With `Phase.ERROR`: whether the call only has no outcome yet. A later one replaces the error.
    """


class FilePart(Struct, frozen=True):
    """The agent made a file. `url` is a data URL with its content, or the place of the file."""

    url: str
    mime: str


class SourceUrl(Struct, frozen=True):
    """The agent used a web page as a source."""

    source_id: str
    url: str
    title: str | None = None


class DataPart(Struct, frozen=True):
    """Data of the agent's own kind, for the app.

    `name` has ASCII letters, digits, `-` and `_` alone. A part replaces an earlier one with the
    same name and `part_id`. A `transient` part is shown at once, and never enters the message.
    """

    name: str
    part_id: str | None
    data: Raw
    transient: bool = False


class AgentStatus(Struct, frozen=True):
    """What the agent is doing, for a status line."""

    status: str
    detail: str | None = None


class Approval(Struct, frozen=True):
    """The tool call that a question is about. The call waits for a yes or a no."""

    call_id: str
    tool_name: str
    args: Raw | None = None


class Question(Struct, frozen=True):
    """The agent asks its user. `payload` is a JSON object with all fields that the agent sent."""

    question_id: str
    payload: Raw
    approval: Approval | None = None
    """Set if the question asks only for a yes or a no, about a call that the agent named."""
    shown: Raw | None = None
    """Set if an approval names no such call: JSON with everything that the user is shown."""

    @property
    def is_approval(self) -> bool:
        """Whether an answer may let a tool run."""
        return self.approval is not None or self.shown is not None


class Replied(Struct, frozen=True):
    """Our client's answer to an open question is being sent; the agent has not confirmed it yet."""

    question_id: str


class QuestionClosed(Struct, frozen=True):
    """A question is no longer open. `answer` is the answer it got; None if it expired."""

    question_id: str
    expired: bool = False
    answer: Raw | None = None


class TurnFinished(Struct, frozen=True, kw_only=True):
    """Our turn is over, or will never begin (an agent may refuse a prompt)."""

    reason: Reason
    final_text: str | None = None
    error: str | None = None
    usage: Raw | None = None
    """A JSON object of counts, which clients get as it is (`TURNWIRE_USAGE`). The AI SDK names them
    `inputTokens`, `outputTokens`, `totalTokens`, `reasoningTokens`, `cachedInputTokens`."""
    cut_short: str | None = None
    """Why an answer that is no error is not whole, such as `length`; None if it is whole."""
    finish_reason: str | None = None
    """Why the model stopped, in the agent's word, also of an answer that is whole (`stop`)."""


class Queued(Struct, frozen=True):
    """Our prompt waits behind another turn."""


QuestionEvent: TypeAlias = Question | QuestionClosed
"""The events that open and close a question."""

Event: TypeAlias = (
    TurnStarted
    | ReplayStarted
    | ReplayUncertain
    | ReplayFinished
    | TextDelta
    | ReasoningDelta
    | TextBreak
    | TextSwitch
    | StepStarted
    | PartsRetracted
    | ToolInputDelta
    | ToolUpdate
    | FilePart
    | SourceUrl
    | DataPart
    | AgentStatus
    | QuestionEvent
    | Replied
    | TurnFinished
    | Queued
)


def find_open_questions(events: Iterable[Event]) -> dict[str, Question]:
    """Return the questions that are open after these events, by id, each in its last form."""
    open_questions: dict[str, Question] = {}
    for event in events:
        if not isinstance(event, QuestionEvent):
            continue
        match event:
            case Question(question_id):
                open_questions[question_id] = event
            case QuestionClosed(question_id):
                open_questions.pop(question_id, None)
            case _:
                assert_never(event)
    return open_questions
