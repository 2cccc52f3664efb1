"""The frames that an agent sends on the `v2` wire, and the parts of `init`. See docs/v2.md.

A field that has its default is left out.
"""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from turnwire_agent.session.mended import mended


class Frame(Struct, frozen=True, rename="camel", omit_defaults=True, tag_field="type"):
    """Base of all frames."""


class MessageCreate(Frame, frozen=True, tag="message.create"):
    turn_id: str
    prompt_id: str | UnsetType = UNSET
    user_id: str | UnsetType = UNSET
    channel_type: str | UnsetType = UNSET
    channel_id: str | UnsetType = UNSET


class TextDelta(Frame, frozen=True, tag="message.part.text-delta"):
    turn_id: str
    delta: str


class ReasoningDelta(Frame, frozen=True, tag="message.part.reasoning-delta"):
    turn_id: str
    delta: str


class ToolInputDelta(Frame, frozen=True, tag="message.part.tool-input-delta"):
    turn_id: str
    call_id: str
    tool_name: str
    delta: str


class ToolUpdate(Frame, frozen=True, tag="message.part.tool-update"):
    turn_id: str
    call_id: str
    tool_name: str
    status: str
    args: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: str | UnsetType = UNSET
    preliminary: bool = False


class File(Frame, frozen=True, tag="message.part.file"):
    turn_id: str
    mime: str
    url: str
    filename: str | None = None


class Source(Frame, frozen=True, tag="message.part.source"):
    turn_id: str
    source_id: str
    url: str
    title: str = ""


class Data(Frame, frozen=True, tag="message.part.data"):
    turn_id: str
    data_name: str
    value: Raw
    data_id: str | None = None
    transient: bool = False


class Step(Frame, frozen=True, tag="message.part.step"):
    turn_id: str


class Retract(Frame, frozen=True, tag="message.part.retract"):
    turn_id: str
    since: int


class Tokens(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Tokens of a turn, in the words of the AI SDK. What the provider did not say is left out."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_input_tokens: int | None = None


class Finalize(Frame, frozen=True, tag="message.finalize"):
    turn_id: str
    reason: str
    finish_reason: str = ""
    error: str | None = None
    usage: Tokens | None = None


class Complete(Frame, frozen=True, tag="complete"):
    turn_id: str
    prompt_id: str | UnsetType = UNSET


class AgentStatus(Frame, frozen=True, tag="agentStatus"):
    status: str
    detail: str | None = None
    turn_id: str | UnsetType = UNSET


class Question(Frame, frozen=True, tag="question"):
    """As a frame, and as a part of `init`: there `answer` or `expired` say that it is closed."""

    question_id: str
    turn_id: str
    text: str
    options: tuple[str, ...] = ()
    expires_at: int | None = None
    """Milliseconds since 1970."""
    kind: str | None = None
    call_id: str | None = None
    tool_name: str | None = None
    args: Raw | UnsetType = UNSET
    answer: Raw | UnsetType = UNSET
    expired: bool = False


class QuestionResolved(Frame, frozen=True, tag="question.resolved"):
    question_id: str
    turn_id: str
    answer: Raw


class QuestionExpired(Frame, frozen=True, tag="question.expired"):
    question_id: str
    turn_id: str


class AgentError(Frame, frozen=True, tag="error"):
    error: str
    prompt_id: str | UnsetType = UNSET
    turn_id: str | UnsetType = UNSET


class UserJoined(Frame, frozen=True, tag="user.joined"):
    user_id: str | None = None


class Pong(Frame, frozen=True, tag="pong"):
    pass


# --- `init` ----------------------------------------------------------------------------------


class TextPart(Frame, frozen=True, tag="text"):
    text: str


class ReasoningPart(Frame, frozen=True, tag="reasoning"):
    text: str


class CallPart(Frame, frozen=True, tag="tool-call"):
    call_id: str
    tool_name: str
    status: str
    args: Raw | UnsetType = UNSET
    input_text: str = ""
    result: Raw | UnsetType = UNSET
    error: str | UnsetType = UNSET
    preliminary: bool = False


class FilePart(Frame, frozen=True, tag="file"):
    mime: str
    url: str | None = None
    """None: it is too old to be repeated."""
    filename: str | None = None


class SourcePart(Frame, frozen=True, tag="source"):
    source_id: str
    url: str
    title: str = ""


class DataPart(Frame, frozen=True, tag="data"):
    data_name: str
    value: Raw
    data_id: str | None = None


class StepPart(Frame, frozen=True, tag="step"):
    pass


class RetractPart(Frame, frozen=True, tag="retract"):
    since: int


class ErrorPart(Frame, frozen=True, tag="error"):
    message: str


class FinishPart(Frame, frozen=True, tag="finish"):
    reason: str


TurnPart = (
    TextPart
    | ReasoningPart
    | CallPart
    | FilePart
    | SourcePart
    | DataPart
    | StepPart
    | RetractPart
    | Question
)
"""What a turn is made of."""

Part = TurnPart | ErrorPart | FinishPart


class Entry(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A prompt or a turn."""

    id: str
    role: str
    prompt_id: str | UnsetType = UNSET
    client_message_id: str | UnsetType = UNSET
    user_id: str | UnsetType = UNSET
    channel_type: str | UnsetType = UNSET
    channel_id: str | UnsetType = UNSET
    queued: bool = False
    parts: tuple[Part, ...]


class Session(Struct, frozen=True):
    id: str
    status: str
    messages: tuple[Raw, ...]
    """Each is an `Entry`."""


class InitData(Struct, frozen=True, rename="camel"):
    runner_busy: bool
    prompts_queued: int
    running_turn_id: str | UnsetType = UNSET


class Init(Frame, frozen=True, tag="init"):
    session: Session
    data: InitData


_encode = msgspec.json.Encoder().encode


def encoded(frame: Frame | Entry) -> bytes:
    """A frame as it is sent, or an entry of one.

    Half of a surrogate pair, which has no UTF-8, becomes U+FFFD.
    """
    try:
        return _encode(frame)
    except UnicodeEncodeError:
        return _encode(mended(frame))
