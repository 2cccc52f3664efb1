"""The frames that the gateway reads, and how it decodes them.

`decoder` decodes one frame into one of the structs of `Read`. A new frame type is a struct, a
member of `Read`, and of those unions before it that it belongs to; mypy then names each `match`
that lacks it. The module also defines how a frame names its channel, the parts of a message, and
the skipped types (page 4.5).

Pages are sections of docs/wire/session-agent.md.
"""

import contextlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Annotated, Any, Final, TypeAlias, Union

import msgspec
from msgspec import Meta, Raw, Struct

from turnwire.core.bounds import MANY, PARTS_MAX, ChannelName, HandedOn, Id, SomeId, Word
from turnwire.core.requests import DEFAULT_CHANNEL, Channel
from turnwire.core.wire.decoder import FrameDecoder, known_frames

THREAD: Final = "thread"

ALLOWED: Final = frozenset({"web", THREAD})
"""Channel types that may get a prompt. A prompt on another type makes the agent remind itself
every five minutes (page 5.3)."""

SKIPPED: Final = (
    "user.left",
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
    "messages.removed",
    "toast",
    "thread.created",
    "thread.updated",
    "integration-auth-required",
)
"""Frame types that have no effect for a client, and are no sign of life. They do not count as
drift."""


class ChannelFields(Struct, frozen=True, rename="camel"):
    """The fields with which a frame may name its channel. Null and absent mean the same."""

    channel_type: ChannelName | None = None
    channel_id: ChannelName | None = None
    thread_id: ChannelName | None = None

    @property
    def named_channel(self) -> Channel | None:
        """The channel that the frame names, or None.

        A thread has priority; half of a channel names none (page 5.3).
        """
        if self.thread_id:
            return Channel(THREAD, self.thread_id)
        if self.channel_type and self.channel_id:
            return Channel(self.channel_type, self.channel_id)
        return None

    @property
    def channel(self) -> Channel:
        """The channel of the frame: the default one if it names none (page 6)."""
        return self.named_channel or DEFAULT_CHANNEL


class Part(Struct, frozen=True, rename="camel"):
    type: Word
    call_id: SomeId = ""
    tool_name: SomeId = ""
    status: Word = ""
    args: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()
    text: Raw = Raw()
    reason: Raw = Raw()
    message: Raw = Raw()


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all frames.

    Fields that no code reads are left out; an absent `Raw` is empty.
    """


class _ChannelFrame(ChannelFields, frozen=True, rename="camel", tag_field="type"):
    """Base of the flat frames that may name a channel."""


class Init(_Frame, frozen=True, tag="init"):
    """The description of the session, sent when a connection opens.

    `init` reads the fields leniently, so that an odd field does not block a prompt.
    """

    session: Raw = Raw()
    data: Raw = Raw()


class MessageData(ChannelFields, frozen=True, rename="camel", kw_only=True):
    id: Id
    role: Word | None = None
    content: HandedOn | None = None
    parts: Raw = Raw()
    author_id: SomeId | None = None


class Message(_Frame, frozen=True, tag="message"):
    data: MessageData


class ChunkDelta(_ChannelFrame, frozen=True, tag="chunk", kw_only=True):
    content: HandedOn
    message_id: Id


class Snapshot(ChannelFields, frozen=True, rename="camel", kw_only=True, dict=True):
    """A whole message.

    `parts` is an array, an object, null or absent; `content` may be absent (page 9, trap 15).
    """

    id: Id
    role: Word | None = None
    content: Raw = Raw()
    parts: Raw = Raw()
    author_id: SomeId | None = None

    @cached_property
    def parsed_parts(self) -> tuple[Sequence[Part], int]:
        """The readable parts, and the size of the unreadable ones in bytes."""
        return parse_parts(self.parts)

    @cached_property
    def is_finished(self) -> bool:
        """Whether the turn is over.

        Most snapshots are dropped after this check, so it does not keep their parsed parts.
        """
        may_have_finish = b'"finish"' in bytes(self.parts)
        return may_have_finish and any(part.type == "finish" for part in parse_parts(self.parts)[0])


class Updated(_Frame, frozen=True, tag="message.updated"):
    data: Snapshot


class AgentStatus(_ChannelFrame, frozen=True, tag="agentStatus", kw_only=True):
    status: Word
    detail: HandedOn | None = None


class StatusData(ChannelFields, frozen=True, rename="camel", kw_only=True):
    """The fields of `status` (page 4.3). The frame belongs to no turn."""

    status: Word | None = None
    message_id: SomeId | None = None
    runner_busy: bool | None = None
    aborted: bool | None = None
    runner_connected: bool | None = None
    runner_disconnected: bool | None = None
    queued_prompts: int | None = None
    prompt_queued: bool | None = None
    queue_position: int | None = None
    prompt_dequeued: bool | None = None
    remaining: int | None = None
    collect_pending: bool | None = None
    queue_cleared: bool | None = None
    question_answered: SomeId | None = None
    answer: Raw = Raw()
    question_expired: SomeId | None = None


class Status(_Frame, frozen=True, tag="status"):
    data: StatusData


class Question(_ChannelFrame, frozen=True, tag="question", kw_only=True):
    """A question of R. `expires_at` is in seconds."""

    question_id: Id
    text: Raw = Raw()
    options: Raw = Raw()
    expires_at: Raw = Raw()


class PromptContext(ChannelFields, frozen=True, rename="camel", kw_only=True):
    options: Raw = Raw()


class PromptData(Struct, frozen=True, rename="camel", kw_only=True):
    """A question or an approval of A and V. `expires_at` is in milliseconds."""

    id: Id
    type: Word = ""
    title: Raw = Raw()
    body: Raw = Raw()
    actions: Raw = Raw()
    expires_at: Raw = Raw()
    context: Raw = Raw()


class InteractivePrompt(_ChannelFrame, frozen=True, tag="interactive_prompt", kw_only=True):
    prompt: PromptData


class Resolution(Struct, frozen=True, rename="camel"):
    value: Raw = Raw()
    action_id: Raw = Raw()
    resolved_by: SomeId | None = None


class Resolved(_ChannelFrame, frozen=True, tag="interactive_prompt_resolved", kw_only=True):
    prompt_id: Id
    resolution: Resolution = Resolution()


class Expired(_ChannelFrame, frozen=True, tag="interactive_prompt_expired", kw_only=True):
    prompt_id: Id
    context: Raw = Raw()


class AgentError(_ChannelFrame, frozen=True, tag="error", kw_only=True):
    """An error of a turn or a session, or one of two replies to one socket (page 4.4)."""

    message_id: SomeId | None = None
    prompt_id: SomeId | None = None
    error: Raw = Raw()
    message: Raw = Raw()


class Pending(ChannelFields, frozen=True, rename="camel", kw_only=True):
    message_id: Id
    content: HandedOn | None = None


class QueueData(Struct, frozen=True):
    pending: Pending | None = None


class QueueState(_Frame, frozen=True, tag="queue.state"):
    data: QueueData


class WithdrawnData(Struct, frozen=True, rename="camel"):
    message_id: Id


class Withdrawn(_Frame, frozen=True, tag="queue.withdrawn"):
    data: WithdrawnData


class Entry(Struct, frozen=True, rename="camel"):
    event_type: Word | None = None
    summary: HandedOn | None = None
    actor_id: SomeId | None = None
    created_at: Raw = Raw()

    @property
    def is_live(self) -> bool:
        """Whether the entry is new.

        In the history that A and V send after `init`, times are numbers (page 4.1).
        """
        return bytes(self.created_at).startswith(b'"')


class AuditLog(_Frame, frozen=True, tag="audit_log"):
    entry: Entry = Entry()


class UserJoined(_Frame, frozen=True, tag="user.joined"):
    """A user opened a socket. Our own socket and the sockets of operations are reported too."""

    user_id: SomeId | None = None


class Pong(_Frame, frozen=True, tag="pong"):
    """The answer to a `ping`. No sign of life.

    Every frame that the agent sent before it has arrived.
    """


class Skipped(_Frame, frozen=True):
    """Base of the frames that are skipped: the type is known, the fields are not read."""


# Frames that may show: a channel at work, what became of an answer, what became of an abort.
WorkSign: TypeAlias = Message | ChunkDelta | Updated | AgentStatus | Question | InteractivePrompt
QuestionVerdict: TypeAlias = Status | Resolved | Expired | AgentError
StopVerdict: TypeAlias = Status | AgentStatus | AuditLog

Read: TypeAlias = (
    Init
    | WorkSign
    | QuestionVerdict
    | StopVerdict
    | QueueState
    | Withdrawn
    | UserJoined
    | Pong
    | Skipped
)

KNOWN = known_frames(Read.__args__, Skipped, SKIPPED)

_parts: Callable[[Raw], list[Part]] = msgspec.json.Decoder(
    Annotated[list[Part], Meta(max_length=PARTS_MAX)]
).decode
_raw_parts = msgspec.json.Decoder(Annotated[list[Raw], MANY]).decode
_part = msgspec.json.Decoder(Part).decode

_decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)


def _restore_halves(frame: Read, loose: Any) -> Read:
    """The frame with the half of a surrogate pair that its delta begins or ends with."""
    if isinstance(frame, ChunkDelta):
        return msgspec.structs.replace(frame, content=loose["content"])
    return frame


decoder = FrameDecoder[Read](_decode, KNOWN, _restore_halves)


def parse_parts(raw: Raw) -> tuple[Sequence[Part], int]:
    """The readable parts, the last `PARTS_MAX`, and the bytes of the unreadable ones.

    An object or null instead of an array has no parts (page 9, trap 15).
    """
    if not bytes(raw).startswith(b"["):
        return (), 0
    try:
        return _parts(raw), 0
    except msgspec.DecodeError:
        parts: list[Part] = []
        skipped_bytes = 0
        with contextlib.suppress(msgspec.DecodeError):  # more values than the gateway decodes
            for part in _raw_parts(raw)[-PARTS_MAX:]:
                try:
                    parts.append(_part(part))
                except msgspec.DecodeError:
                    skipped_bytes += len(bytes(part))
        return parts, skipped_bytes


def non_null(raw: Raw) -> Raw | None:
    """The field, or None if it is null or absent."""
    return None if not raw or bytes(raw) == b"null" else raw
