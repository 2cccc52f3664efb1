"""The frames that are read, and how they are decoded.

A new frame is a struct and a line in `Read`, here, and a `case` in `conversation`.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias, Union

import msgspec
from msgspec import Raw, Struct

from turnwire.core import harmless
from turnwire.core.bounds import HandedOn, Id, SomeId, Word
from turnwire.core.dialect import Tally
from turnwire.dialects.session_agent.channel import Placed
from turnwire.dialects.session_agent.parts import Part, taken_apart
from turnwire.dialects.session_agent.skipped import SKIPPED


class _Frame(Struct, frozen=True, rename="camel", tag_field="type"):
    """Base of all frames. Fields that nothing reads are left out; an absent `Raw` is empty."""


class _PlacedFrame(Placed, frozen=True, rename="camel", tag_field="type"):
    """Base of the frames that are flat and may name a channel."""


class Init(_Frame, frozen=True, tag="init"):
    """Read leniently by `hello`: what is odd in it must not keep a prompt from being sent."""

    session: Raw = Raw()
    data: Raw = Raw()


class MessageData(Placed, frozen=True, rename="camel", kw_only=True):
    id: Id
    role: Word | None = None
    content: HandedOn | None = None
    parts: Raw = Raw()
    author_id: SomeId | None = None


class Message(_Frame, frozen=True, tag="message"):
    data: MessageData


class ChunkDelta(_PlacedFrame, frozen=True, tag="chunk", kw_only=True):
    content: HandedOn
    message_id: Id


class Snapshot(Placed, frozen=True, rename="camel", kw_only=True, dict=True):
    """`parts` is an array, an object, null or absent; `content` may be absent (page 9, trap 15)."""

    id: Id
    role: Word | None = None
    content: Raw = Raw()
    parts: Raw = Raw()
    author_id: SomeId | None = None

    @cached_property
    def taken_apart(self) -> tuple[Sequence[Part], int]:
        """The parts that can be read, and how many bytes there are of others."""
        return taken_apart(self.parts)

    @cached_property
    def is_finished(self) -> bool:
        """Whether its turn is over. Most are dropped after that, so its parts are not kept."""
        looks_so = b'"finish"' in bytes(self.parts)
        return looks_so and any(part.type == "finish" for part in taken_apart(self.parts)[0])


class Updated(_Frame, frozen=True, tag="message.updated"):
    data: Snapshot


class AgentStatus(_PlacedFrame, frozen=True, tag="agentStatus", kw_only=True):
    status: Word
    detail: HandedOn | None = None


class StatusData(Placed, frozen=True, rename="camel", kw_only=True):
    """All that `status` may say (page 4.3); nothing in it is a turn's."""

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


class Question(_PlacedFrame, frozen=True, tag="question", kw_only=True):
    """R. `expires_at` is in seconds."""

    question_id: Id
    text: Raw = Raw()
    options: Raw = Raw()
    expires_at: Raw = Raw()


class PromptContext(Placed, frozen=True, rename="camel", kw_only=True):
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


class InteractivePrompt(_PlacedFrame, frozen=True, tag="interactive_prompt", kw_only=True):
    prompt: PromptData


class Resolution(Struct, frozen=True, rename="camel"):
    value: Raw = Raw()
    action_id: Raw = Raw()
    resolved_by: SomeId | None = None


class Resolved(_PlacedFrame, frozen=True, tag="interactive_prompt_resolved", kw_only=True):
    prompt_id: Id
    resolution: Resolution = Resolution()


class Expired(_PlacedFrame, frozen=True, tag="interactive_prompt_expired", kw_only=True):
    prompt_id: Id
    context: Raw = Raw()


class AgentError(_PlacedFrame, frozen=True, tag="error", kw_only=True):
    """Three shapes (page 4.4): of a turn or session, and two replies to one socket."""

    message_id: SomeId | None = None
    prompt_id: SomeId | None = None
    error: Raw = Raw()
    message: Raw = Raw()


class Pending(Placed, frozen=True, rename="camel", kw_only=True):
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
        """Times of the history that A and V tell after `init` are numbers (page 4.1)."""
        return bytes(self.created_at).startswith(b'"')


class AuditLog(_Frame, frozen=True, tag="audit_log"):
    entry: Entry = Entry()


class UserJoined(_Frame, frozen=True, tag="user.joined"):
    """A socket of a user's opened, ours and that of an errand too."""

    user_id: SomeId | None = None


class Pong(_Frame, frozen=True, tag="pong"):
    """The answer to a `ping`: all that the agent said before it has been heard. No sign of life."""


class Skipped(_Frame, frozen=True):
    """Base of the frames that are skipped: known by type, not looked into."""


Read: TypeAlias = (
    Init
    | Message
    | ChunkDelta
    | Updated
    | AgentStatus
    | Status
    | Question
    | InteractivePrompt
    | Resolved
    | Expired
    | AgentError
    | QueueState
    | Withdrawn
    | AuditLog
    | UserJoined
    | Pong
    | Skipped
)

KNOWN = (
    *(kind for kind in Read.__args__ if kind is not Skipped),
    *(msgspec.defstruct(tag, [], bases=(Skipped,), frozen=True, tag=tag) for tag in SKIPPED),
)
FRAME_TYPES = frozenset(str(kind.__struct_config__.tag) for kind in KNOWN)

_decode: Callable[[bytes], Read] = msgspec.json.Decoder(Union[KNOWN]).decode  # noqa: UP007 (built at run time)


def given(raw: Raw) -> Raw | None:
    """A field of any shape; null and absent are the same."""
    return None if not raw or bytes(raw) == b"null" else raw


def read(frame: bytes, tally: Tally) -> Read | None:
    """Decode a frame; None, and counted, if it cannot be."""
    try:
        return _decode(frame)
    except msgspec.ValidationError:
        _count(frame, tally)
        return None
    except (msgspec.DecodeError, RecursionError):
        return _read_loose(frame, tally)


def _read_loose(frame: bytes, tally: Tally) -> Read | None:
    """Read what is not strict JSON (NaN, half of a surrogate pair)."""
    strict = b""
    try:
        strict, loose = harmless.strictly(frame)
        heard = _decode(strict)
    except msgspec.ValidationError:
        _count(strict, tally)
        return None
    except (ValueError, RecursionError):
        tally.unread(frame)
        return None
    # A half of a surrogate pair may find its other half in the next delta.
    if isinstance(heard, ChunkDelta) and loose is not None:
        return msgspec.structs.replace(heard, content=loose["content"])
    return heard


def _count(frame: bytes, tally: Tally) -> None:
    kind = harmless.kind(frame)
    if not kind:
        tally.unread(frame)
    elif kind in FRAME_TYPES:
        tally.odd(frame)
    else:
        tally.unknown(kind)
