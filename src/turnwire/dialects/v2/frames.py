"""The frames that an agent sends on the `v2` wire (docs/v2.md), and how they are decoded.

`decoder` decodes a frame and counts one that cannot be decoded. `turn.TurnProtocol`
calls `decode` itself, to save a call per delta.

A new frame is a struct and a member of `Read`, or of a union within it (such as `Content`).
mypy then names each `match` that lacks it.
"""

from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeAlias, Union, assert_never

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core import safe_json
from turnwire.core.bounds import ChannelName, DataName, HandedOn, Id, SomeId, Word
from turnwire.core.events import Phase
from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.core.wire.decoder import FrameDecoder, known_frames
from turnwire.dialects.v2.questions import TurnRef

SKIPPED: Final = (
    "message",
    "message.updated",
    "messages.removed",
    "pong",
    "user.left",
    "audit_log",
    "models",
    "model-switched",
    "git-state",
    "pr-created",
    "files-changed",
    "diff",
    "review-result",
    "command-result",
    "child-session",
    "title",
    "toast",
)
"""Types of hydration and domain frames. They produce no chunk and are no sign of life.

They are listed so that they do not count as a drift of the wire.
"""

HALF_FIELD: Final = "turnwire:half"
"""The field that `keep_halves` adds to a part of `init`."""


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all frames. It declares only fields that are read; an absent `Raw` is empty."""


class InitData(Struct, frozen=True, rename="camel"):
    runner_busy: bool | None = None
    running_turn_id: SomeId | None = None
    prompts_queued: Raw = Raw()


class Init(_Frame, frozen=True, tag="init"):
    data: InitData = InitData()
    session: Raw = Raw()


class MessageCreate(_Frame, frozen=True, tag="message.create"):
    turn_id: Id
    prompt_id: SomeId | None = None
    user_id: Raw = Raw()
    channel_type: ChannelName | None = None
    channel_id: ChannelName | None = None


# `gc=False`: these two come by the hundred thousand, and cannot be part of a cycle.


class TextDelta(_Frame, frozen=True, gc=False, tag="message.part.text-delta"):
    turn_id: Id
    delta: HandedOn


class ChunkDelta(_Frame, frozen=True, gc=False, tag="chunk"):
    content: HandedOn
    message_id: Id


class ReasoningDelta(_Frame, frozen=True, tag="message.part.reasoning-delta"):
    turn_id: Id
    delta: HandedOn


class ToolInputDelta(_Frame, frozen=True, tag="message.part.tool-input-delta"):
    turn_id: Id
    call_id: Id
    tool_name: Id
    delta: HandedOn


class ToolUpdate(_Frame, frozen=True, tag="message.part.tool-update"):
    turn_id: Id
    call_id: Id
    tool_name: Id
    status: Phase
    args: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()
    preliminary: bool | None = None
    args_delta: HandedOn | None = None


Position: TypeAlias = Annotated[int, Meta(ge=0, le=2**53)]
"""The position of a part among the parts of its turn that stand, from 0."""


class Step(_Frame, frozen=True, tag="message.part.step"):
    """The agent calls its model again."""

    turn_id: Id


class Retract(_Frame, frozen=True, tag="message.part.retract"):
    """The parts of a turn from `since` on are taken back: the attempt that wrote them was lost."""

    turn_id: Id
    since: Position


class File(_Frame, frozen=True, tag="message.part.file"):
    """A file. Its `filename` is not read, because the client's chunk has no field for it."""

    turn_id: Id
    url: HandedOn
    mime: Word


class Source(_Frame, frozen=True, tag="message.part.source"):
    turn_id: Id
    source_id: Id
    url: HandedOn
    title: HandedOn | None = None


class Data(_Frame, frozen=True, tag="message.part.data"):
    """Data for the app. An empty `dataId` counts as none."""

    turn_id: Id
    data_name: DataName
    value: Raw
    data_id: SomeId | None = None
    transient: bool | None = None


class Finalize(_Frame, frozen=True, tag="message.finalize"):
    """The end of a turn. Only its id is checked: another wrong field must not hide the end."""

    turn_id: Id
    reason: Raw = Raw()
    final_text: Raw = Raw()
    error: Raw = Raw()
    usage: Raw = Raw()
    finish_reason: Raw = Raw()


class Unnamed(_Frame, frozen=True):
    """Base of the frames that need not name the turn they belong to."""

    turn_id: SomeId | None = None
    prompt_id: SomeId | None = None
    channel_type: ChannelName | None = None
    channel_id: ChannelName | None = None


class Complete(Unnamed, frozen=True, tag="complete"):
    pass


class AgentStatus(Unnamed, frozen=True, tag="agentStatus", kw_only=True):
    status: Literal["idle", "thinking", "streaming", "tool_calling", "error"]
    detail: HandedOn | None = None


class Question(Unnamed, frozen=True, tag="question", kw_only=True):
    question_id: Id


class QuestionResolved(Unnamed, frozen=True, tag="question.resolved", kw_only=True):
    question_id: Id
    answer: Raw = Raw()


class QuestionExpired(Unnamed, frozen=True, tag="question.expired", kw_only=True):
    question_id: Id


class AgentError(Unnamed, frozen=True, tag="error"):
    message: Raw = Raw()
    error: Raw = Raw()


class Status(_Frame, frozen=True, tag="status"):
    """The session's lifecycle. It produces no chunk, but is a sign of life."""


class UserJoined(_Frame, frozen=True, tag="user.joined"):
    user_id: SomeId | None = None


class Skipped(_Frame, frozen=True):
    """Base of the frames in `SKIPPED`: only their type is decoded."""


TurnEnd: TypeAlias = Finalize | Complete | AgentError
"""The frames that end a turn."""

QuestionEnd: TypeAlias = QuestionResolved | QuestionExpired
"""The frames that close a question."""

Content: TypeAlias = ReasoningDelta | ToolInputDelta | File | Source | Data | Step
"""The frames that are one event of a turn each, except for text."""

Read: TypeAlias = (
    Init
    | MessageCreate
    | TextDelta
    | ChunkDelta
    | Content
    | ToolUpdate
    | Retract
    | TurnEnd
    | AgentStatus
    | Question
    | QuestionEnd
    | Status
    | UserJoined
    | Skipped
)
"""A decoded frame."""

KNOWN = known_frames(Read.__args__, Skipped, SKIPPED)
"""The structs of all frame types, the skipped ones included."""

decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)


def channel_of(frame: MessageCreate | Unnamed) -> Channel | None:
    """The channel that a frame names; None if it names neither type nor id."""
    return named_channel(frame.channel_type, frame.channel_id)


def named_channel(channel_type: str | None, channel_id: str | None) -> Channel | None:
    """The channel of these two fields; None if both are missing."""
    if not channel_type and not channel_id:
        return None
    return Channel(channel_type or DEFAULT_CHANNEL.type, channel_id or DEFAULT_CHANNEL.id)


def turn_ref(frame: Unnamed) -> TurnRef:
    """The turn, the prompt and the channel that a frame names."""
    return TurnRef(frame.turn_id, frame.prompt_id, channel_of(frame))


def _restore_halves(frame: Read, loose: Any) -> Read:
    """The frame with the half of a surrogate pair that its delta begins or ends with."""
    match frame:
        case TextDelta() | ReasoningDelta() | ToolInputDelta():
            return msgspec.structs.replace(frame, delta=loose["delta"])
        case ChunkDelta():
            return msgspec.structs.replace(frame, content=loose["content"])
        case ToolUpdate(args_delta=str()):
            return msgspec.structs.replace(frame, args_delta=loose["argsDelta"])
        case (
            Init()
            | MessageCreate()
            | ToolUpdate()
            | File()
            | Source()
            | Data()
            | Step()
            | Retract()
            | Finalize()
            | Complete()
            | AgentStatus()
            | Question()
            | QuestionResolved()
            | QuestionExpired()
            | AgentError()
            | Status()
            | UserJoined()
            | Skipped()
        ):
            return frame
        case _:
            assert_never(frame)


def keep_halves(loose: Any) -> None:
    """Store the half of a surrogate pair that a text ends with in a field of its own.

    Strict JSON cannot hold it in the text. `loose` is a frame as `safe_json.parse` returns it: an
    object with values of any shape. Its parts are changed in place.
    """
    if loose.get("type") != "init":
        return
    session = loose.get("session")
    for message in _list(session, "messages"):
        for part in _list(message, "parts"):
            match part:
                case {"type": "text" | "reasoning", "text": str(text)}:
                    part["text"], half = safe_json.split_half(text)
                    part[HALF_FIELD] = ord(half) if half else 0
                case {"type": "tool-call", "inputText": str(text)}:
                    part["inputText"], half = safe_json.split_half(text)
                    part[HALF_FIELD] = ord(half) if half else 0
                case _:
                    pass


def _list(holder: Any, name: str) -> list[Any]:
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else []


decoder = FrameDecoder[Read](decode, KNOWN, _restore_halves, keep_halves)
