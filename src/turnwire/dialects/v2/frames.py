"""The frames of the `v2` wire that are read, and how they are decoded (spec section 4).

A new frame is a struct and a line in `Read`, here, and a `case` in `wire`.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

from turnwire.core import harmless
from turnwire.core.bounds import ChannelName, HandedOn, Id, SomeId, Word
from turnwire.core.dialect import Tally
from turnwire.core.events import Phase
from turnwire.dialects.v2 import hydration
from turnwire.dialects.v2.asked import Place
from turnwire.dialects.v2.others import DEFAULT_CHANNEL, Channel
from turnwire.dialects.v2.skipped import SKIPPED


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all frames. Fields that nothing reads are left out; an absent `Raw` is empty."""


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


# `gc=False`: these two come by the hundred thousand, and can be in no cycle.


class TextDelta(_Frame, frozen=True, gc=False, tag="message.part.text-delta"):
    turn_id: Id
    delta: HandedOn


class ChunkDelta(_Frame, frozen=True, gc=False, tag="chunk"):
    content: HandedOn
    message_id: Id


class ReasoningDelta(_Frame, frozen=True, tag="message.part.reasoning-delta"):
    turn_id: Id
    delta: HandedOn


class ToolUpdate(_Frame, frozen=True, tag="message.part.tool-update"):
    turn_id: Id
    call_id: Id
    tool_name: Id
    status: Phase
    args: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


class File(_Frame, frozen=True, tag="message.part.file"):
    """Its file name is not read: no client's chunk has a place for it."""

    turn_id: Id
    url: HandedOn
    mime: Word


class Source(_Frame, frozen=True, tag="message.part.source"):
    turn_id: Id
    source_id: Id
    url: HandedOn
    title: HandedOn | None = None


class Finalize(_Frame, frozen=True, tag="message.finalize"):
    """What is wrong beside the turn's id must not keep a turn from ending: read leniently."""

    turn_id: Id
    reason: Raw = Raw()
    final_text: Raw = Raw()
    error: Raw = Raw()
    usage: Raw = Raw()


class Unnamed(_Frame, frozen=True):
    """A frame that need not name the turn it belongs to."""

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
    """The session's lifecycle: nothing to show, but a sign of life."""


class UserJoined(_Frame, frozen=True, tag="user.joined"):
    user_id: SomeId | None = None


class Skipped(_Frame, frozen=True):
    """Base of the frames that are skipped: known by type, not looked into."""


Read: TypeAlias = (
    Init
    | MessageCreate
    | TextDelta
    | ChunkDelta
    | ReasoningDelta
    | ToolUpdate
    | File
    | Source
    | Finalize
    | Complete
    | AgentStatus
    | Question
    | QuestionResolved
    | QuestionExpired
    | AgentError
    | Status
    | UserJoined
    | Skipped
)

_READ = tuple(kind for kind in Read.__args__ if kind is not Skipped)
KNOWN = (
    *_READ,
    *(msgspec.defstruct(tag, [], bases=(Skipped,), frozen=True, tag=tag) for tag in SKIPPED),
)
FRAME_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in KNOWN)

decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)


def channel(frame: MessageCreate | Unnamed) -> Channel | None:
    """The channel that a frame names, if it does."""
    if not frame.channel_type and not frame.channel_id:
        return None
    kind, name = DEFAULT_CHANNEL
    return (frame.channel_type or kind, frame.channel_id or name)


def place(frame: Unnamed) -> Place:
    """All that a frame says of where it belongs."""
    return Place(frame.turn_id, frame.prompt_id, channel(frame))


def read(frame: bytes, tally: Tally) -> Read | None:
    """Decode a frame, however it is spelled; None, and counted, if it cannot be read."""
    try:
        return decode(frame)
    except msgspec.ValidationError:
        count(frame, tally)
        return None
    except (msgspec.DecodeError, RecursionError):
        recovered = recover(frame, tally)
        return recovered[0] if recovered else None


def recover(frame: bytes, tally: Tally) -> tuple[Read, bytes] | None:
    """Read what `decode` found to be no JSON, if it nearly is: NaN, half of a surrogate pair.

    Also returns the frame in strict JSON. None, and counted, if it stays unread.
    """
    strict = b""
    try:
        strict, loose = harmless.strictly(frame, hydration.keep_halves)
        heard = decode(strict)
    except msgspec.ValidationError:
        count(strict, tally)
        return None
    except (ValueError, RecursionError):
        tally.unread(frame)
        return None
    if loose is None:
        return heard, strict
    # A half of a surrogate pair may find its other half in the next delta.
    if isinstance(heard, TextDelta | ReasoningDelta):
        heard = msgspec.structs.replace(heard, delta=loose["delta"])
    elif isinstance(heard, ChunkDelta):
        heard = msgspec.structs.replace(heard, content=loose["content"])
    return heard, strict


def count(frame: bytes, tally: Tally) -> None:
    """Count a frame in valid JSON that `decode` refused."""
    kind = harmless.kind(frame)
    if not kind:
        tally.unread(frame)
    elif kind in FRAME_TYPES:
        tally.odd(frame)
    else:
        tally.unknown(kind)
